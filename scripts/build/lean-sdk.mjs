// What the bundle leaves out of the MCP SDK, and what it answers without a schema.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The SDK includes a 150 KB JSON Schema validator for requests that this server never makes. */
const withoutValidator = {
  name: 'without-validator',
  setup(bundler) {
    bundler.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: fileURLToPath(new URL('sdk-shims.mjs', import.meta.url)),
    }));
  },
};

/** On load, the SDK builds a schema for every protocol type, which costs 15 ms; a tool server uses few of them. */
const onlyUsedSchemas = {
  name: 'only-used-schemas',
  setup(bundler) {
    const load = (path, edit) => ({ contents: edit(readFileSync(path, 'utf8')), loader: 'js' });
    // esbuild drops a call marked as pure together with its unused constant.
    bundler.onLoad({ filter: /@modelcontextprotocol\/core\/dist\/[\w-]+\.mjs$/ }, ({ path }) =>
      load(path, (code) =>
        code.replaceAll(
          /^const (\w+) = ((?:z|\w+Schema)\.[\s\S]*?);\n(?=const |\/\*|\/\/|export|function|\n)/gm,
          'const $1 = /* @__PURE__ */ (() => $2)();\n',
        ),
      ),
    );
    // These two loops read all of them, for a registry that this program does not use.
    bundler.onLoad({ filter: /@modelcontextprotocol\/server\/dist\/src-[\w-]+\.mjs$/ }, ({ path }) =>
      load(path, (code) =>
        decideEarly(acceptPlainHandshake(code.replaceAll(/^for \(const .* register\(key, .*\);\n/gm, ''))),
      ),
    );
  },
};

/** This server is always a low-level one; the question whether it is of the other kind would keep that kind here. */
const onlyLowLevel = {
  name: 'only-low-level',
  setup(bundler) {
    const question = 'product instanceof McpServer ? product.server : product';
    bundler.onLoad({ filter: /@modelcontextprotocol\/server\/dist\/stdio\.mjs$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      if (!code.includes(question)) throw new Error('the SDK asks differently for the kind of a server');
      return { contents: code.replace(question, 'product'), loader: 'js' };
    });
  },
};

/** This server has no transport over HTTP; the question whether a transport is one would keep that one here. */
const withoutHttp = {
  name: 'without-http',
  setup(bundler) {
    const question = 'transport instanceof PerRequestHTTPServerTransport ? readClassification(transport) : void 0';
    const reader = /\bstatic \{\s*readClassification = \(transport\) => transport\._classification;\s*\}/;
    bundler.onLoad({ filter: /@modelcontextprotocol\/server\/dist\/mcp-[\w-]+\.mjs$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      if (!code.includes(question) || !reader.test(code))
        throw new Error('the SDK asks differently for the kind of a transport');
      return { contents: code.replace(question, 'void 0').replace(reader, ''), loader: 'js' };
    });
  },
};

export const leanSdk = [withoutValidator, onlyUsedSchemas, onlyLowLevel, withoutHttp];

const SHAPES = fileURLToPath(new URL('../../src/wire/plain-messages.ts', import.meta.url));

/**
 * The SDK matches every message against several schemas, some of them three times. One that lacks a required key is
 * refused without a list of defects; one of the plain shape that clients send needs no schema
 * (src/wire/plain-messages.ts).
 */
const CHECKS = {
  Request: { key: 'method', shape: 'isPlainRequest' },
  Notification: { key: 'method' },
  ResultResponse: { key: 'result', shape: 'isPlainResult' },
  ErrorResponse: { key: 'error' },
};

/** The handshake is the first request of a connection: a plain one is answered before the schemas are built. */
function acceptPlainHandshake(code) {
  const check = 'validateRequest: (method, raw) => triState$1(';
  if (!code.includes(check)) throw new Error('the SDK validates requests of the 2025 protocol in another way');
  return code.replace(
    check,
    () => 'validateRequest: (method, raw) => isPlainInitialize(raw) ? { ok: true, value: raw } : triState$1(',
  );
}

function decideEarly(code) {
  const shapes = [...Object.values(CHECKS).flatMap(({ shape = [] }) => shape), 'isPlainInitialize'];
  return Object.entries(CHECKS).reduce(
    (edited, [kind, { key, shape }]) => {
      const check = `const isJSONRPC${kind} = (value) => `;
      if (!edited.includes(check)) throw new Error(`the SDK has no isJSONRPC${kind} any more`);
      const accepted = shape === undefined ? '' : `${shape}(value) || `;
      return edited.replace(check, `${check}${accepted}Object(value) === value && '${key}' in value && `);
    },
    `import { ${shapes.join(', ')} } from ${JSON.stringify(SHAPES)};\n${code}`,
  );
}

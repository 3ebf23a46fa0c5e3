import * as z from 'zod';

/**
 * The two formats in which the package describes itself to others. Written after the published JSON Schemas, and
 * stricter: a field that they do not know is refused, so that a typo shows here and not when the package is published.
 */

const exactVersion = z.string().regex(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/, 'is not one exact version');
const httpsUrl = z.url({ protocol: /^https$/ });

const input = z.strictObject({
  name: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  description: z.string().min(1),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).min(1).optional(),
});

/**
 * https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json, as far as it is about an npm package.
 */
export const serverJson = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: exactVersion,
  websiteUrl: httpsUrl.optional(),
  repository: z.strictObject({ url: httpsUrl, source: z.literal('github'), id: z.string().optional() }),
  packages: z
    .array(
      z.strictObject({
        registryType: z.literal('npm'),
        identifier: z.string().min(1),
        version: exactVersion,
        runtimeHint: z.literal('npx'),
        transport: z.strictObject({ type: z.literal('stdio') }),
        environmentVariables: z.array(input),
      }),
    )
    .length(1),
});

const inside = z.string().regex(/^\w[\w.-]*(?:\/\w[\w.-]*)*$/, 'is not a path inside the bundle');

const setting = z.strictObject({
  type: z.enum(['string', 'number', 'boolean', 'directory', 'file']),
  title: z.string().min(1),
  description: z.string().min(1),
  required: z.boolean().optional(),
  default: z.string().optional(),
});

/** Version 0.3 of the manifest (MANIFEST.md of modelcontextprotocol/mcpb), as far as it is about a server on Node. */
export const bundleManifest = z.strictObject({
  manifest_version: z.literal('0.3'),
  name: z.string().min(1),
  display_name: z.string().min(1),
  version: exactVersion,
  description: z.string().min(1),
  author: z.strictObject({ name: z.string().min(1), email: z.email().optional(), url: httpsUrl.optional() }),
  repository: z.strictObject({ type: z.literal('git'), url: httpsUrl }),
  homepage: httpsUrl,
  license: z.string().min(1),
  keywords: z.array(z.string().min(1)),
  server: z.strictObject({
    type: z.literal('node'),
    entry_point: inside,
    mcp_config: z.strictObject({
      command: z.literal('node'),
      args: z.array(z.string()),
      env: z.record(z.string().regex(/^COLIBRI_[A-Z_]+$/), z.string()),
    }),
  }),
  tools: z.array(z.strictObject({ name: z.string().min(1), description: z.string().min(1) })),
  compatibility: z.strictObject({
    platforms: z.array(z.enum(['darwin', 'win32', 'linux'])).min(1),
    runtimes: z.strictObject({ node: z.string() }),
  }),
  user_config: z.record(z.string(), setting),
});

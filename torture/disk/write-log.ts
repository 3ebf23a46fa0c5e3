import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * What a program did to the files of a folder, in order, with the answers that it wrote in between. Paths are relative.
 */
export type DiskEvent =
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'create' | 'folder' | 'remove'; readonly path: string }
  | { readonly kind: 'rename' | 'link'; readonly path: string; readonly target: string }
  /** A sync covers what was written before it began, once it has ended. */
  | { readonly kind: 'sync began' | 'sync ended'; readonly path: string }
  | { readonly kind: 'answer'; readonly text: string };

const CALLS =
  'write,writev,pwrite64,ftruncate,fsync,fdatasync,openat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,' +
  'mkdir,mkdirat,rmdir';

/** Starts a program and records its calls of the file system in a file. */
export function straceLauncher(trace: string): string[] {
  // In hexadecimal and with the paths of descriptors: no name or content can be mistaken for something else.
  return ['strace', '-f', '-y', '-xx', '-s', '16777216', '-o', trace, '-e', `trace=${CALLS}`, '--'];
}

interface Call {
  readonly name: string;
  readonly fields: string;
  readonly result: string;
}

/** Reads what `straceLauncher` recorded about a folder. */
export function readWriteLog(trace: string, root: string): DiskEvent[] {
  const parser = new Parser(root);
  for (const line of readFileSync(trace, 'latin1').split('\n')) parser.add(line);
  return parser.events;
}

class Parser {
  readonly events: DiskEvent[] = [];
  readonly #root: string;
  readonly #unfinished = new Map<string, Omit<Call, 'result'>>();
  /** Where the next `write` of a descriptor goes, by its path: our own code writes files from the beginning. */
  readonly #ends = new Map<string, number>();
  #output = '';

  constructor(root: string) {
    this.#root = root;
  }

  add(line: string): void {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const begun = /^(\w+)\((.*) <unfinished \.\.\.>$/.exec(rest);
    const resumed = /^<\.\.\. \w+ resumed>.*?\) += (.*)$/.exec(rest);
    const whole = /^(\w+)\((.*)\) += (.*)$/.exec(rest);
    if (begun !== null) {
      const call = { name: begun[1] ?? '', fields: begun[2] ?? '' };
      this.#unfinished.set(thread, call);
      this.#begin(call);
    } else if (resumed !== null) {
      const call = this.#unfinished.get(thread);
      this.#unfinished.delete(thread);
      if (call !== undefined) this.#end({ ...call, result: resumed[1] ?? '' });
    } else if (whole !== null) {
      const call = { name: whole[1] ?? '', fields: whole[2] ?? '', result: whole[3] ?? '' };
      this.#begin(call);
      this.#end(call);
    }
  }

  #begin({ name, fields }: Omit<Call, 'result'>): void {
    if (name === 'fsync' || name === 'fdatasync') this.#push('sync began', this.#describedPath(fields));
  }

  #end({ name, fields, result }: Call): void {
    if (result.startsWith('-') || result.startsWith('?')) return;
    const path = this.#describedPath(fields);
    const texts = textsOf(fields);
    const [first, second] = texts.map((text) => this.#inside(text.toString('utf8')));
    switch (name) {
      case 'fsync':
      case 'fdatasync':
        return this.#push('sync ended', path);
      case 'ftruncate':
        if (path !== undefined) this.events.push({ kind: 'truncate', path, size: lastNumber(fields) });
        return;
      case 'pwrite64':
        if (path !== undefined)
          this.#write(path, lastNumber(fields), (texts[0] ?? EMPTY).subarray(0, Number.parseInt(result, 10)));
        return;
      case 'write':
      case 'writev':
        return this.#append(fields, path, Buffer.concat(texts).subarray(0, Number.parseInt(result, 10)));
      case 'openat':
        return this.#open(fields, this.#describedPath(result));
      case 'mkdir':
      case 'mkdirat':
        return this.#push('folder', first);
      case 'unlink':
      case 'unlinkat':
      case 'rmdir':
        return this.#push('remove', first);
      default:
        if (first !== undefined && second !== undefined)
          this.events.push({ kind: name.startsWith('link') ? 'link' : 'rename', path: first, target: second });
    }
  }

  #open(fields: string, path: string | undefined): void {
    if (path === undefined || !fields.includes('O_CREAT')) return;
    this.events.push({ kind: 'create', path });
    if (fields.includes('O_TRUNC')) this.events.push({ kind: 'truncate', path, size: 0 });
    this.#ends.set(path, 0);
  }

  #append(fields: string, path: string | undefined, bytes: Buffer): void {
    if (path !== undefined) {
      const offset = this.#ends.get(path) ?? 0;
      this.#write(path, offset, bytes);
      this.#ends.set(path, offset + bytes.length);
    } else if (fields.startsWith('1<')) {
      this.#output += bytes.toString('utf8');
      const lines = this.#output.split('\n');
      this.#output = lines.pop() ?? '';
      for (const text of lines) this.events.push({ kind: 'answer', text });
    }
  }

  #write(path: string, offset: number, bytes: Buffer): void {
    this.events.push({ kind: 'write', path, offset, bytes: Buffer.from(bytes) });
  }

  #push(kind: 'create' | 'folder' | 'remove' | 'sync began' | 'sync ended', path: string | undefined): void {
    if (path !== undefined) this.events.push({ kind, path });
  }

  /** The path of the descriptor that a text begins with. */
  #describedPath(text: string): string | undefined {
    const [, hex] = /^\d+<((?:\\x[0-9a-f]{2})+)>(?!\(deleted\))/.exec(text) ?? [];
    const path = hex === undefined ? '' : fromHex(hex).toString('utf8');
    // A pipe or a socket has a name that is not a path.
    return path.startsWith('/') ? this.#inside(path) : undefined;
  }

  #inside(path: string): string | undefined {
    const inside = path.startsWith('/') ? relative(this.#root, path) : path;
    return inside.startsWith('..') || inside.startsWith('/') ? undefined : inside;
  }
}

const EMPTY = Buffer.alloc(0);

function textsOf(fields: string): Buffer[] {
  return [...fields.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => fromHex(hex));
}

function fromHex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

function lastNumber(fields: string): number {
  return Number(/(\d+)$/.exec(fields)?.[1]);
}

import { CommandError } from '../support/command-result.ts';

/** More than any field accepts; what is longer is refused before it fills the memory. */
const MAX_BYTES = 1_048_576;

/** The text itself, or standard input for `-`. */
export async function readText(text: string): Promise<string> {
  return text === '-' ? readStdin() : text;
}

/** The same for an option that may be absent. */
export function readOptionalText(text: string | undefined): Promise<string | undefined> {
  return text === undefined ? Promise.resolve(undefined) : readText(text);
}

let isRead = false;

/** Without the line break at the end, which editors and `echo` add, and the byte order mark of PowerShell. */
async function readStdin(): Promise<string> {
  if (isRead)
    throw new CommandError('bad input', 'only one text can come from standard input', { advice: 'use "-" once' });
  isRead = true;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new CommandError('bad input', `the text on standard input is longer than ${MAX_BYTES} bytes`, {
        advice: 'shorten it',
      });
    chunks.push(chunk);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new CommandError('bad input', 'the text on standard input is not valid UTF-8', {
      advice: 'convert it first',
    });
  }
}

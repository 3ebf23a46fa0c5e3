import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilotCli } from './copilot-cli.ts';
import { geminiCli } from './gemini-cli.ts';
import type { TranscriptFormat } from './transcript.ts';

const FORMATS: Readonly<Record<string, TranscriptFormat>> = {
  'claude-code': claudeCode,
  codex,
  'copilot-cli': copilotCli,
  'gemini-cli': geminiCli,
};

/** Undefined for a client whose transcripts are not known. */
export function findFormat(client: string): TranscriptFormat | undefined {
  return Object.hasOwn(FORMATS, client) ? FORMATS[client] : undefined;
}

import { setImmediate } from 'node:timers/promises';
import { type Config, readConfig } from '../config.ts';
import { currentFolder, UnusableFolder } from '../current-folder.ts';
import { explainLedger, serverConfig } from '../db/locate.ts';
import { ColibriError } from '../errors.ts';
import { printError } from '../print-error.ts';
import { createShutdown } from '../runtime/shutdown.ts';
import { INSTRUCTIONS } from '../wire/instructions.ts';
import { StartupTimeout, within } from '../wire/startup-timeout.ts';
import { createStdioTransport } from '../wire/stdio.ts';
import { type ColibriServerContext, createColibriServer } from './colibri-server.ts';
import { collectFeedbackAtOnce, compileSooner } from './compile-sooner.ts';
import { factsOf, pulseOf } from './facts.ts';
import { isMain } from './is-main.ts';

/** EX_TEMPFAIL and EX_CONFIG of sysexits.h. */
const EXIT_TEMPORARY = 75;
const EXIT_CONFIG = 78;

/** Serves the 14 tools over stdio, on the ledger that the environment names; passes the configuration to `onConfig`. */
export async function main(onConfig?: (config: Config) => void): Promise<void> {
  const config = readConfigOrExit();
  onConfig?.(config);
  const transport = createStdioTransport();
  const server = createColibriServer({
    transport,
    mode: config.mode,
    logLevel: config.logLevel,
    agentId: config.agentId ?? config.agentBase,
    ledgerReason: explainLedger(config),
    instructions: INSTRUCTIONS,
    startupTimeoutMs: config.startupTimeoutMs,
    loadTools: async () => {
      // Clients send the handshake at once. Two turns of the event loop let it be read and answered before the tools
      // are loaded, which blocks.
      await setImmediate();
      await setImmediate();
      collectFeedbackAtOnce();
      return (await import('../surface.ts')).createSurface(ports, config);
    },
    loadLibrary: async () => (await import('../surface.ts')).createSurfaceLibrary(server.listTools(), config),
    boot: async ({ chain }) =>
      (await import('../runtime/boot.ts')).boot(config, chain.log, printError, {
        asksWitnesses: true,
        signsBothEnds: true,
      }),
  });
  const { log, runtime } = server.chain;
  const ports = {
    pulse: () => pulseOf(server),
    facts: () => factsOf(server, config),
    database: () => runtime.database,
    skills: () => runtime.skills,
    checkpoint: () => runtime.checkpoint,
  };
  const shutDown = createShutdown(log, () => server.stop());
  // `serve </dev/null` creates or migrates the ledger; the exit code reports the result.
  transport.onend = () =>
    shutDown('the client closed the connection', () => (transport.wasUsed ? 0 : exitCodeOf(server)));
  try {
    await within(config.startupTimeoutMs, server.start());
    await within(config.startupTimeoutMs, runtime.passGate(false));
    compileSooner();
  } catch (error) {
    log('error', 'start failed', { error });
    process.exit(error instanceof StartupTimeout ? EXIT_TEMPORARY : 1);
  }
}

/** `node dist/server.js` starts the server; an import does not. */
export function startIfMain(moduleUrl: string): void {
  // Not awaited: the CommonJS bundle has no top-level await.
  if (isMain(moduleUrl)) void main();
}

/** Reports whether the ledger was opened. */
function exitCodeOf({ chain: { log, runtime } }: ColibriServerContext): number {
  if (runtime.phase !== 'starting') return runtime.failure === undefined ? 0 : 1;
  log('error', 'start failed', { error: new Error('the ledger was not open in time') });
  return EXIT_TEMPORARY;
}

function readConfigOrExit(): Config {
  try {
    currentFolder();
    return serverConfig(readConfig());
  } catch (error) {
    if (!(error instanceof ColibriError || error instanceof UnusableFolder)) throw error;
    printError(`colibri: ${error instanceof ColibriError ? `${error.code}: ` : ''}${error.message}`);
    process.exit(EXIT_CONFIG);
  }
}

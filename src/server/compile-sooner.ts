interface Flag {
  readonly set: string;
  readonly initial: string;
}

/**
 * Makes V8 optimize functions after fewer runs. With its defaults the code of a call is optimized after two thousand
 * calls, more than most agents make; with these values after some hundreds, for the same processor time in total. Node
 * 24 has a compiler between the two, and needs no help.
 */
const OPTIMIZE_SOONER: Readonly<Record<string, Flag>> = {
  20: { set: '--interrupt-budget=24000', initial: '--interrupt-budget=67584' },
  22: { set: '--invocation-count-for-turbofan=1000', initial: '--invocation-count-for-turbofan=3000' },
};

/**
 * Makes V8 collect type feedback from the first run of a function on, not from the ninth: the first calls of a server,
 * often all that an agent makes, take a tenth less. Those of Node 24 take longer with it.
 */
const COLLECT_FEEDBACK_AT_ONCE: Flag = { set: '--no-lazy-feedback-allocation', initial: '--lazy-feedback-allocation' };

const [MAJOR = ''] = process.versions.node.split('.');

/** Call it after the handshake: setting a flag loads a module of Node, which would delay the answer. */
export function collectFeedbackAtOnce(): void {
  if (MAJOR in OPTIMIZE_SOONER) setFlag(COLLECT_FEEDBACK_AT_ONCE);
}

/** Call it when the server is ready: code that runs once is not worth optimizing. */
export function compileSooner(): void {
  const flag = OPTIMIZE_SOONER[MAJOR];
  if (flag !== undefined) setFlag(flag);
}

function setFlag({ set, initial }: Flag): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString(set);
  // A code cache is valid only for the flags with which it was written, at the end of a process.
  process.prependOnceListener('exit', () => setFlagsFromString(initial));
}

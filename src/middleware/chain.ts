import type { Answer } from '../envelope.ts';
import { auditEnter, createEnterEvent } from './audit-enter.ts';
import { auditExit } from './audit-exit.ts';
import type { Call, Chain } from './call.ts';
import { dispatch } from './dispatch.ts';
import { recordArguments } from './record-arguments.ts';
import { inRecordedTransaction } from './recorded-transaction.ts';
import { toolLock } from './tool-lock.ts';
import { validate } from './validate.ts';

/**
 * The life of a call, stage by stage. A call that a stage rejects is recorded like any other. Rejects only if the
 * client cancels before the call holds the lock; such a call leaves no trace.
 */
export function runCall(chain: Chain, call: Call): Promise<Answer> {
  // 1 tool-lock: wait until the server is ready and no other call runs; does the mode admit the tool?
  return toolLock(chain, call, async (admitted, isSettled) => {
    const { text, defect } = recordArguments(call);
    const active = { chain, call, event: createEnterEvent(chain, call, text), isSettled };

    // 2 validate: the raw input against the tool's schema
    const validated = admitted.ok ? validate(active, admitted.data, defect) : admitted;

    // 3 audit enter: committed before the tool runs
    const entered = await auditEnter(active, validated);

    return inRecordedTransaction(active, entered, {
      // 4 dispatch: run the tool
      dispatch: (valid, transaction) => dispatch(active, valid, transaction),

      // 5 audit exit: committed together with the changes of the tool
      exit: (conclusion, transaction) => auditExit(active, conclusion, transaction),
    });
  });
}

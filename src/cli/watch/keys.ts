/** The keys that end a view which is kept on a terminal. */
export interface Keys {
  close(): void;
}

const [CTRL_C, CTRL_Z] = ['\u0003', '\u001a'];
const CAN_SUSPEND = process.platform !== 'win32';

/**
 * Reads single keys if standard input is a terminal: `q` and Ctrl-C quit, Ctrl-Z suspends. Without this the terminal
 * shows every typed key in the middle of the view. `resume` is called when a suspended command continues.
 */
export function openKeys({ quit, resume }: { readonly quit: () => void; readonly resume: () => void }): Keys {
  const { stdin } = process;
  if (!stdin.isTTY) return { close: () => undefined };
  const onContinue = () => {
    stdin.setRawMode(true);
    resume();
  };
  const onData = (typed: Buffer) => {
    for (const key of typed.toString('latin1')) {
      if (key === 'q' || key === CTRL_C) quit();
      else if (key === CTRL_Z && CAN_SUSPEND) {
        // Restores the terminal settings of the shell before the whole process group is suspended, as by the terminal.
        stdin.setRawMode(false);
        process.kill(0, 'SIGTSTP');
      }
    }
  };
  stdin.setRawMode(true);
  stdin.on('data', onData);
  if (CAN_SUSPEND) process.on('SIGCONT', onContinue);
  return {
    close: () => {
      process.off('SIGCONT', onContinue);
      stdin.off('data', onData).pause();
      stdin.setRawMode(false);
    },
  };
}

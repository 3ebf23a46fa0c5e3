import { printError } from '../../print-error.ts';
import { print, printJson } from '../support/print.ts';
import { findTerminal } from '../views/terminal.ts';
import type { Step } from './scenario.ts';

export interface Ending {
  readonly ok: boolean;
  readonly message?: string;
  readonly folder?: string;
}

export interface Teller {
  readonly tell: (step: Step) => void;
  readonly end: (ending: Ending) => void;
}

/** Line by line for people, one object at the end for machines. */
export function createTeller(json: boolean): Teller {
  return json ? createJsonTeller() : createLineTeller();
}

function createJsonTeller(): Teller {
  const steps: Step[] = [];
  return {
    tell: (step) => steps.push(step),
    end: ({ ok, ...rest }) => printJson({ ok, ...rest, steps }),
  };
}

function createLineTeller(): Teller {
  const { bold, dim, green, red, yellow } = findTerminal().colors;
  const paint = { plain: String, good: green, refused: yellow, bad: red };
  let count = 0;
  print(bold('Colibri: two agents, one task, and a record that nobody can quietly edit'));
  return {
    tell: ({ says, mood }) => {
      count += 1;
      print(`${dim(String(count).padStart(3))}  ${paint[mood](says)}`);
    },
    end: ({ ok, message, folder }) => {
      if (!ok) printError(`colibri demo: ${message}`);
      if (folder !== undefined) print(dim(`The folder is kept: ${folder}`));
    },
  };
}

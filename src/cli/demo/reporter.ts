import { printError } from '../../print-error.ts';
import { print, printJson } from '../support/print.ts';
import { findTerminal } from '../views/terminal.ts';
import type { Step } from './scenario.ts';

export interface DemoResult {
  readonly ok: boolean;
  readonly message?: string;
  readonly folder?: string;
}

export interface Reporter {
  readonly report: (step: Step) => void;
  readonly end: (result: DemoResult) => void;
}

/** Prints each step as a line when it happens, or all of them as one JSON object at the end. */
export function createReporter(json: boolean): Reporter {
  return json ? createJsonReporter() : createLineReporter();
}

function createJsonReporter(): Reporter {
  const steps: Step[] = [];
  return {
    report: (step) => steps.push(step),
    end: ({ ok, ...rest }) => printJson({ ok, ...rest, steps }),
  };
}

function createLineReporter(): Reporter {
  const { bold, dim, green, red, yellow } = findTerminal().colors;
  const paint = { plain: String, good: green, refused: yellow, bad: red };
  let count = 0;
  print(bold('Colibri demo: two agents, one task, and a log that cannot be edited unnoticed'));
  return {
    report: ({ text, tone }) => {
      count += 1;
      print(`${dim(String(count).padStart(3))}  ${paint[tone](text)}`);
    },
    end: ({ ok, message, folder }) => {
      if (!ok) printError(`colibri demo: ${message}`);
      if (folder !== undefined) print(dim(`Kept the folder ${folder}`));
    },
  };
}

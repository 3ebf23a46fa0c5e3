import { printError } from '../../print-error.ts';
import { wrapProse } from '../../text/prose.ts';
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

/** Below the number of a step. */
const MARGIN = ' '.repeat(5);

function createLineReporter(): Reporter {
  const { width, colors } = findTerminal();
  const { bold, dim, green, red, yellow } = colors;
  const paint = { plain: String, good: green, refused: yellow, bad: red };
  let count = 0;
  print(bold('Colibri demo: two agents, one task, and a log that cannot be edited unnoticed'));
  return {
    report: ({ text, tone }) => {
      count += 1;
      const [first = '', ...rest] = wrapProse(text, width === undefined ? undefined : width - MARGIN.length);
      print([
        `${dim(String(count).padStart(3))}  ${paint[tone](first)}`,
        ...rest.map((line) => MARGIN + paint[tone](line)),
      ]);
    },
    end: ({ ok, message, folder }) => {
      if (!ok) printError(`colibri demo: ${message}`);
      if (folder !== undefined) print(dim(`Kept the folder ${folder}`));
    },
  };
}

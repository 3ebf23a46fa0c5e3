import colors from 'picocolors';
import type { Step } from './story.ts';

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
    end: ({ ok, ...rest }) => console.log(JSON.stringify({ ok, ...rest, steps })),
  };
}

function createLineTeller(): Teller {
  const { bold, dim, green, red, yellow } = colors.createColors(process.stdout.isTTY && colors.isColorSupported);
  const paint = { plain: String, good: green, refused: yellow, bad: red };
  let count = 0;
  console.log(bold('Colibri: two agents, one task, and a record that nobody can quietly edit'));
  return {
    tell: ({ says, mood }) => {
      count += 1;
      console.log(`${dim(String(count).padStart(3))}  ${paint[mood](says)}`);
    },
    end: ({ ok, message, folder }) => {
      if (!ok) console.error(`colibri demo: ${message}`);
      if (folder !== undefined) console.log(dim(`The folder is kept: ${folder}`));
    },
  };
}

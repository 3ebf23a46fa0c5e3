import { userInfo } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import { isVisible } from '../../fields.ts';
import { PERSON_PREFIX } from '../../integrity/index.ts';
import { escapeUnsafe } from '../../terminal-text.ts';
import { CommandError } from '../support/command-result.ts';

const MAX_ACTOR_LENGTH = 128;
const MAX_LENGTH = MAX_ACTOR_LENGTH - PERSON_PREFIX.length;
const RULE = `1 to ${MAX_LENGTH} visible characters`;

/** The prefix is always added: this option never records a person as an agent. */
export const AS_OPTION = new Option('--as <name>', 'act as this person (default: your user name)').argParser(
  (text: string) => {
    const name = text.startsWith(PERSON_PREFIX) ? text.slice(PERSON_PREFIX.length) : text;
    if (isPersonName(name)) return name;
    throw new InvalidArgumentError(`Use a name of ${RULE}.`);
  },
);

/** The actor under which a person is recorded. */
export function personActor(name = findUserName()): string {
  return PERSON_PREFIX + name;
}

/** A name that reads the same on a terminal as in the log. */
function isPersonName(name: string): boolean {
  return name.length <= MAX_LENGTH && isVisible(name) && name.trim() === name && escapeUnsafe(name) === name;
}

function findUserName(): string {
  const name = readUserName();
  if (name !== undefined && isPersonName(name)) return name;
  throw new CommandError('bad input', 'your user has no name that can be recorded', { advice: 'use --as NAME' });
}

/** Undefined for a user id without an entry in the user database, as in many containers. */
function readUserName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

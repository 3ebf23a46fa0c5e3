import { AdvisedError } from '../../errors.ts';

/** A problem that a person must solve first. Nothing has been written when it is thrown. */
export class InitError extends AdvisedError {
  override readonly name = 'InitError';
}

/** The advice about a file that cannot be read or edited as it is. */
export const CORRECT_FILE = 'correct the file, then repeat the command';

import { AdvisedError } from '../../errors.ts';

/** A problem that a person must solve first. Nothing has been written when it is thrown. */
export class InitError extends AdvisedError {
  override readonly name = 'InitError';
}

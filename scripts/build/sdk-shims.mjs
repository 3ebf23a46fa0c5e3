// Replaces the SDK's file of this name in the bundle.
import process from 'node:process';

export { process };

/** Used only by servers that send a form to their client; this one does not. */
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('this build has no JSON-Schema validator');
  }
}

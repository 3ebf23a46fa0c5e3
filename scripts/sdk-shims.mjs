// Stands in for the SDK's own file of this name in the bundled program.
import process from 'node:process';

export { process };

/** Only asked for when a server sends a form to its client, which this one does not. */
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('this build has no JSON-Schema validator');
  }
}

import { appendFileSync } from 'node:fs';

/** Maximum number of lines of a failure's message, so that the end of a long log has room for all failures. */
const MAX_LINES = 12;

/**
 * Writes what the end of `npm test` reports, because it runs vitest several times, on several versions of Node: each
 * run appends its counts and its failures to the file that COLIBRI_TEST_SUMMARIES names.
 */
export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const failures = unhandledErrors.map((error) => describe(`Node ${process.versions.node}, outside a test`, [error]));
    for (const module of modules) {
      if (module.errors().length > 0) failures.push(describe(name(module), module.errors()));
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        counts[state] += 1;
        if (state === 'failed') failures.push(describe(`${name(module)}: ${test.fullName}`, errors));
      }
    }
    appendFileSync(process.env.COLIBRI_TEST_SUMMARIES, `${JSON.stringify({ counts, failures })}\n`);
  }
}

function name({ project, moduleId }) {
  return `Node ${process.versions.node}, ${project.name}, ${moduleId}`;
}

function describe(title, errors) {
  const texts = errors.map(({ message, diff, stack }) => [message, diff, stack].filter(Boolean).join('\n'));
  return [`FAILED ${title}`, ...texts.join('\n').split('\n').slice(0, MAX_LINES)].join('\n  ');
}

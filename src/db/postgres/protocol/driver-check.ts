import { toError } from '../../../errors.ts';
import { DatabaseError } from '../../database.ts';
import { isConnectionEnded, isServerCondition } from '../errors.ts';
import type { Pipeline } from './pipeline.ts';
import type { Statement } from './statement.ts';

/**
 * `Packet` uses internals of the driver. A packet whose second statement fails, and a packet after it, show whether
 * they still work as needed. Both are sent together with the settings of the session and cost no extra round trip.
 */
export async function assertDriver(pipeline: Pipeline): Promise<void> {
  const outcomes = CHECKS.map(({ statement, endsPacket }) => {
    const outcome = pipeline.query(statement);
    if (endsPacket) pipeline.endPacket();
    return outcome;
  });
  pipeline.flush();
  const settled = await Promise.allSettled(outcomes);
  const seen = settled.map((outcome) =>
    outcome.status === 'fulfilled' ? JSON.stringify(outcome.value) : nameFailure(toError(outcome.reason)),
  );
  const wrong = CHECKS.findIndex(({ expected }, index) => seen[index] !== expected);
  if (wrong === -1) return;
  const first = settled[wrong];
  // A lost connection, a canceled statement or a lack of resources says nothing about the driver.
  if (first?.status === 'rejected' && (isConnectionEnded(first.reason) || isServerCondition(first.reason)))
    throw toError(first.reason);
  throw new DatabaseError(
    'refused',
    `the PostgreSQL driver does not work as Colibri needs (statement ${wrong + 1} of its self-test returned ${seen[wrong]})`,
    { advice: 'install Colibri again with the dependencies it was released with' },
  );
}

interface Check {
  readonly statement: Statement;
  readonly expected: string;
  readonly endsPacket: boolean;
}

/** The server logs it at each start. */
const EXPECTED_FAILURE = 'this error is expected: Colibri tests its driver';
const INVALID_TEXT = '22P02';

const CHECKS: readonly Check[] = [
  check('SELECT 1 AS one', INVALID_TEXT),
  check('SELECT CAST($1 AS INTEGER) AS failure', INVALID_TEXT, { parameters: [EXPECTED_FAILURE] }),
  check("SELECT set_config('colibri.self_test', 'executed', FALSE) AS third", INVALID_TEXT, { endsPacket: true }),
  check("SELECT NULLIF(current_setting('colibri.self_test', TRUE), '') AS third", '[{"third":null}]'),
  check(
    "SELECT word, number FROM (VALUES ('a', 1), ('b', NULL)) AS words (word, number) ORDER BY word",
    '[{"word":"a","number":1},{"word":"b","number":null}]',
    { endsPacket: true },
  ),
];

function check(
  text: string,
  expected: string,
  { parameters = [], endsPacket = false }: { parameters?: readonly string[]; endsPacket?: boolean } = {},
): Check {
  return { statement: { name: '', text, parameters }, expected, endsPacket };
}

function nameFailure(error: Error): string {
  return 'code' in error ? String(error.code) : error.message;
}

/** The smallest Node program that answers a handshake: the baseline for startup. */
const ANSWER =
  '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"bare","version":"0"}}}\n';

let pending = '';
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (pending + chunk).split('\n');
  pending = lines.pop() ?? '';
  for (const line of lines) if (line.includes('"initialize"')) process.stdout.write(ANSWER);
});

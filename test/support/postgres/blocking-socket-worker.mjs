// The other thread of blocking-socket.ts: hands bytes on between its port and a socket, and rings for each message.
import { connect } from 'node:net';
import { workerData } from 'node:worker_threads';

const { host, port, channel, bell } = workerData;
const rings = new Int32Array(bell);

function tell(message) {
  channel.postMessage(message, []);
  Atomics.add(rings, 0, 1);
  Atomics.notify(rings, 0);
}

const socket = connect(port, host);
socket.on('data', tell);
// The end follows, and the reader needs to know no more.
socket.on('error', () => undefined);
socket.on('close', () => {
  tell(null);
  channel.close();
});
channel.on('message', (bytes) => (bytes === null ? socket.end() : socket.write(bytes)));

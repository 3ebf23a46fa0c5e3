import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly progressToken?: unknown; readonly _meta?: { readonly progressToken?: unknown } };
}

interface Waiting {
  readonly id: string | number;
  readonly progressToken: unknown;
  readonly resolve: (answer: Message) => void;
  readonly passOn: (notification: Message) => void;
}

/**
 * The program as a child, one message to a line. Requests of several clients may carry one id: the child sees others.
 */
export class Pipe {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string | number, Waiting>();
  #count = 0;

  constructor([command = '', ...args]: string[]) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    if (this.#child.stdout === null) throw new Error('the program has no standard output');
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#receive(JSON.parse(line) as Message));
  }

  send(message: Message): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  request(message: Message & { id?: string | number }, passOn: (notification: Message) => void): Promise<Message> {
    this.#count += 1;
    const id = this.#count;
    const progressToken = message.params?._meta?.progressToken;
    return new Promise((resolve) => {
      this.#waiting.set(id, { id: message.id ?? id, progressToken, resolve, passOn });
      this.send({ ...message, id });
    });
  }

  close(): void {
    this.#child.kill();
  }

  #receive(message: Message): void {
    if (message.id === undefined) return this.#passOn(message);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    waiting?.resolve({ ...message, id: waiting.id });
  }

  #passOn(notification: Message): void {
    for (const { progressToken, passOn } of this.#waiting.values())
      if (progressToken !== undefined && progressToken === notification.params?.progressToken) passOn(notification);
  }
}

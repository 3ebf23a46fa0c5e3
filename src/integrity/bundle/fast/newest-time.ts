const TIME_LENGTH = '2026-04-08T22:15:30.000Z'.length;

/** Remembers the latest of many times. As text they have the order of the times. */
export class NewestTime {
  readonly #newest = new Uint8Array(TIME_LENGTH);

  /** Whether the time that stands here is later than all before it. */
  isNext(bytes: Uint8Array, at: number): boolean {
    const newest = this.#newest;
    let place = 0;
    while (place < TIME_LENGTH && bytes[at + place] === newest[place]) place += 1;
    if (place === TIME_LENGTH || (bytes[at + place] as number) < (newest[place] as number)) return false;
    for (; place < TIME_LENGTH; place += 1) newest[place] = bytes[at + place] as number;
    return true;
  }
}

import { THOUGHT_FIELDS, THOUGHT_TYPES } from '../../content-grammar.ts';
import { parseJson } from '../../parse-json.ts';
import { type RawDigest, rawSha256 } from '../../sha256.ts';
import { compileObject, type EventFields, fieldOf } from './byte-grammar.ts';
import { DIGEST_DIGITS, isDigestAt } from './bytes/hex-bytes.ts';
import { ROOM, type Sample, Scratch, sampleOf } from './bytes/scratch.ts';
import { copyOuterString, type StringCopy } from './bytes/string-copy.ts';
import { copy, decode } from './bytes/utf8-bytes.ts';
import { isPlain } from './read-pattern.ts';

const QUOTE = 0x22;

/** What stands around the values of a thought in a bundle. */
const CONTENT = sampleOf('{"content":"');
const PREVIOUS = sampleOf('","previous_hash":');
const TYPE = sampleOf(',"type":');
const END = sampleOf('}');
const NULL = sampleOf('null');
const TYPES = THOUGHT_TYPES.map((type) => sampleOf(JSON.stringify(type)));

/** What stands around them in the text that the hash of a thought covers. */
const HASHED_TASK = sampleOf('{"task_id":');
const HASHED_CONTENT = sampleOf(',"content":"');
const HASHED_TIME = sampleOf(',"recorded_at":');
const HASHED_ACTOR = sampleOf(',"recorded_by":');

const { value: contentPattern } = fieldOf(compileObject(THOUGHT_FIELDS), 'content');

/** Room for what is hashed before the content. */
const CONTENT_AT = 128;

/**
 * Reads the thoughts of a bundle. Texts are hashed as they stand there, because canonical JSON has one text for each.
 */
export class ThoughtReader {
  /** Of the thought that was read last: where the digits of the hash of the one before it are. */
  previousAt: number | null = null;
  /** Has room for a content and for the name of an actor. */
  readonly #preimage = new Scratch(new Uint8Array(2 * ROOM));
  readonly #content: StringCopy = { at: 0, to: 0, seen: 0, extra: 0 };
  #type: Sample = END;
  #previousAt = 0;
  #previousEnd = 0;

  /** Returns where the thought that begins here ends; -1 unless it is canonical and of the grammar. */
  read(file: Scratch, begin: number): number {
    const content = this.#content;
    content.at = begin + CONTENT.length;
    content.to = CONTENT_AT;
    if (!file.has(CONTENT, begin) || !copyOuterString(file, this.#preimage, content)) return -1;
    if (!this.#isContent() || !file.has(PREVIOUS, content.at)) return -1;
    if (!this.#readsPrevious(file, content.at + PREVIOUS.length)) return -1;
    const typeAt = this.#previousEnd + TYPE.length;
    const type = TYPES.find((known) => file.has(known, typeAt));
    if (type === undefined || !file.has(TYPE, typeAt - TYPE.length) || !file.has(END, typeAt + type.length)) return -1;
    this.#type = type;
    return typeAt + type.length + END.length;
  }

  /** The hash of the thought that was read last from the file, in this entry. */
  hash(file: Uint8Array, { bytes, task_id, at, actor }: EventFields): RawDigest {
    const preimage = this.#preimage.bytes;
    // From the content back to the beginning.
    const typeAt = CONTENT_AT - HASHED_CONTENT.length - this.#type.length;
    const taskEnd = typeAt - TYPE.length;
    const taskAt = taskEnd - (task_id.end - task_id.begin);
    const begin = taskAt - HASHED_TASK.length;
    put(HASHED_TASK, preimage, begin);
    copy(bytes, task_id.begin, task_id.end, preimage, taskAt);
    put(TYPE, preimage, taskEnd);
    put(this.#type, preimage, typeAt);
    put(HASHED_CONTENT, preimage, CONTENT_AT - HASHED_CONTENT.length);
    let to = put(PREVIOUS, preimage, this.#content.to);
    to = copy(file, this.#previousAt, this.#previousEnd, preimage, to);
    to = put(HASHED_TIME, preimage, to);
    to = copy(bytes, at.begin, at.end, preimage, to);
    to = put(HASHED_ACTOR, preimage, to);
    to = copy(bytes, actor.begin, actor.end, preimage, to);
    to = put(END, preimage, to);
    return rawSha256(this.#preimage.part(begin, to));
  }

  #isContent(): boolean {
    const { bytes } = this.#preimage;
    if (isPlain(contentPattern, this.#content, bytes, CONTENT_AT)) return true;
    return contentPattern.form.holds(parseJson(`"${decode(bytes, CONTENT_AT, this.#content.to)}"`));
  }

  #readsPrevious(file: Scratch, at: number): boolean {
    this.#previousAt = at;
    this.previousAt = null;
    this.#previousEnd = at + NULL.length;
    if (file.has(NULL, at)) return true;
    const end = at + 1 + DIGEST_DIGITS;
    if (file.bytes[at] !== QUOTE || file.bytes[end] !== QUOTE || !isDigestAt(file.bytes, at + 1)) return false;
    this.previousAt = at + 1;
    this.#previousEnd = end + 1;
    return true;
  }
}

function put({ bytes }: Sample, target: Uint8Array, to: number): number {
  return copy(bytes, 0, bytes.length, target, to);
}

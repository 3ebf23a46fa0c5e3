import type { ReadContext } from '../context.ts';

/** What a server offers besides its tools: texts to read, derived from the ledger. Reading one changes nothing. */
export interface Library {
  readonly resources: readonly ResourceListing[];
  readonly templates: readonly TemplateListing[];
  readonly prompts: readonly PromptListing[];
  /** Returns undefined if there is no such resource. */
  readResource(uri: string, context: ReadContext): Promise<ResourceText | undefined>;
  /** Returns undefined if there is no such prompt. Throws `ColibriError` for wrong arguments. */
  readPrompt(name: string, args: Readonly<Record<string, string>>, context: ReadContext): Promise<string | undefined>;
}

export interface ResourceText {
  readonly mimeType: string;
  readonly text: string;
}

interface Listing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

export interface ResourceListing extends Listing {
  readonly uri: string;
  readonly mimeType: string;
}

export interface TemplateListing extends Listing {
  readonly uriTemplate: string;
  readonly mimeType: string;
}

export interface PromptListing extends Listing {
  readonly arguments: { readonly name: string; readonly description: string; readonly required: boolean }[];
}

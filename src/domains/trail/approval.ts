import { parseJson } from '../../integrity/index.ts';

/** The part of the metadata of a thought record that makes it an approval. */
export interface ApprovalMetadata {
  readonly approval: {
    /** The entry of the approved version of the task. */
    readonly version: number;
    /** The fencing token of the latest claim, under which the work was done. */
    readonly claim?: number;
    readonly commit?: string;
  };
}

/** What an approval says if the person wrote nothing. */
export function approvalText(taskId: string, { version, commit }: ApprovalMetadata['approval']): string {
  return `approved ${taskId} as of entry ${version}${commit === undefined ? '' : `, commit ${commit}`}`;
}

/** Whether a thought says nothing but that the task was approved. */
export function isBareApproval(taskId: string, content: string, extras: string): boolean {
  const approval = findApproval(extras);
  return approval !== undefined && content === approvalText(taskId, approval);
}

/** Undefined if the thought is not an approval. Metadata can hold anything, and a forged row is not even JSON. */
export function findApproval(extras: string): ApprovalMetadata['approval'] | undefined {
  try {
    const { metadata } = parseJson(extras) as {
      readonly metadata?: { readonly approval?: { readonly version?: unknown } };
    };
    const approval = metadata?.approval;
    return typeof approval?.version === 'number' ? (approval as ApprovalMetadata['approval']) : undefined;
  } catch {
    return undefined;
  }
}

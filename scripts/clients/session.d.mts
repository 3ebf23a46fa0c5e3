import type { Step } from './check.mjs';

export const TASK: string;
export const TEST_COMMAND: string;
export const UNRUN_COMMAND: string;
export const MISSING_COMMIT: string;
export function sessionSteps(findHead: () => string): Step[];
export function actionOf(step: Step): 'mcp' | 'shell' | 'edit';

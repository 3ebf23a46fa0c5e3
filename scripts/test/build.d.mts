export function buildForTests(): Promise<void>;

import * as z from 'zod';
import { line } from '../../fields.ts';

/** The front matter of a SKILL.md in the open Agent Skills format (agentskills.io/specification). */
const NAME = /^(?!-)(?!.*--)[a-z0-9-]{1,64}(?<!-)$/;

const capabilities = z.preprocess(
  // The format's metadata maps names to plain strings.
  (value) => (typeof value === 'string' ? value.split(/[\s,]+/).filter((word) => word !== '') : value),
  z.array(z.string().min(1).max(64)).max(50),
);

const version = z.string().trim().min(1, 'must not be empty').max(64);

export const frontMatter = z.looseObject({
  name: z.string().regex(NAME, 'must be 1 to 64 lower-case letters, digits and single hyphens'),
  description: z.string().trim().min(1, 'must not be empty').max(1024),
  compatibility: z.string().min(1).max(500).optional(),
  version: version.optional(),
  capabilities: capabilities.optional(),
  metadata: z.looseObject({ version: version.optional(), capabilities: capabilities.optional() }).optional(),
});

export const listInput = z.strictObject({
  search: line(256).optional().describe('part of a name or description'),
  capability: line(64).optional(),
});

export const listOutput = z.object({
  skills: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      description: z.string(),
      capabilities: z.array(z.string()),
      path: z.string(),
    }),
  ),
  total_count: z.int(),
});

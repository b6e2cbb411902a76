import type { Rule } from './rules.ts';
import type { Kind } from './source.ts';

/** At most this share of a surface's sentences, in percent, may break a rule. */
export type Bounds = Readonly<Record<Rule, number>>;

export type Surface = {
  name: string;
  /** The kind of text and the files that belong to it. The first surface that fits has a text. */
  kind: Kind | 'document';
  files: RegExp;
  bounds: Bounds;
};

/** The bounds of a surface that has been rewritten. */
const PLAIN: Bounds = { headless: 1, term: 0.3, long: 0 };

/**
 * A surface that has not been rewritten has the figures of its last measurement, rounded up. They may only go down. When a
 * surface has been rewritten, it gets `PLAIN`.
 */
export const SURFACES: readonly Surface[] = [
  { name: 'decisions', kind: 'document', files: /^docs\/decisions\//, bounds: PLAIN },
  {
    name: 'contributor pages',
    kind: 'document',
    files:
      /^(?:ARCHITECTURE|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY)\.md$|^\.github\/|^docs\/models\/|^packages\/.*\.md$/,
    bounds: PLAIN,
  },
  {
    name: 'alerts',
    kind: 'document',
    files: /^ops\//,
    bounds: PLAIN,
  },
  { name: 'docs', kind: 'document', files: /./, bounds: PLAIN },
  {
    name: 'test titles',
    kind: 'title',
    files: /./,
    bounds: { headless: 19, term: 31, long: 1 },
  },
  {
    name: 'comments',
    kind: 'comment',
    files: /./,
    bounds: { headless: 24, term: 29, long: 5 },
  },
  {
    name: 'dashboard strings',
    kind: 'string',
    files: /^packages\/dashboard\/src\//,
    bounds: PLAIN,
  },
  {
    name: 'CLI strings',
    kind: 'string',
    files: /^packages\/cli\/src\/|^packages\/server\/src\/operator\//,
    bounds: PLAIN,
  },
  {
    name: 'recipient texts',
    kind: 'string',
    files: /^packages\/server\/src\/(?:base\/recipient-texts|http\/choices|features\/writing)\//,
    bounds: PLAIN,
  },
  {
    name: 'server strings',
    kind: 'string',
    files: /^packages\/server\/src\//,
    bounds: PLAIN,
  },
  {
    name: 'contract',
    kind: 'string',
    files: /^packages\/contract\/src\//,
    bounds: PLAIN,
  },
  {
    name: 'client',
    kind: 'string',
    files: /^packages\/client\/src\//,
    bounds: PLAIN,
  },
];

/** Null for a text that no user reads, such as a string of a development script. */
export function surfaceOf(kind: Surface['kind'], file: string): Surface | null {
  return SURFACES.find((surface) => surface.kind === kind && surface.files.test(file)) ?? null;
}

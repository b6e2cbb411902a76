import type { Rule } from './rules.ts';
import type { Kind } from './source.ts';

/** At most this share of a surface's sentences, in percent, may break a rule. */
export const BOUNDS: Readonly<Record<Rule, number>> = { headless: 1, term: 0.3, long: 0 };

export type Surface = {
  name: string;
  /** The kind of text and the files that belong to it. The first surface that fits has a text. */
  kind: Kind | 'document';
  files: RegExp;
};

export const SURFACES: readonly Surface[] = [
  { name: 'decisions', kind: 'document', files: /^docs\/decisions\// },
  {
    name: 'contributor pages',
    kind: 'document',
    files:
      /^(?:ARCHITECTURE|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY)\.md$|^\.github\/|^verification\/|^packages\/.*\.md$/,
  },
  {
    name: 'alerts',
    kind: 'document',
    files: /^ops\//,
  },
  { name: 'docs', kind: 'document', files: /./ },
  {
    name: 'test titles',
    kind: 'title',
    files: /./,
  },
  {
    name: 'comments',
    kind: 'comment',
    files: /./,
  },
  {
    name: 'dashboard strings',
    kind: 'string',
    files: /^packages\/dashboard\/src\//,
  },
  {
    name: 'CLI strings',
    kind: 'string',
    files: /^packages\/cli\/src\/|^packages\/server\/src\/main\/commands\//,
  },
  {
    name: 'recipient texts',
    kind: 'string',
    files:
      /^packages\/server\/src\/(?:platform\/recipient-texts|modules\/(?:inbound\/preferences|rendering))\//,
  },
  {
    name: 'server strings',
    kind: 'string',
    files: /^packages\/server\/src\//,
  },
  {
    name: 'postgres strings',
    kind: 'string',
    files: /^packages\/postgres\/src\//,
  },
  {
    name: 'verification strings',
    kind: 'string',
    files: /^verification\//,
  },
  {
    name: 'contract',
    kind: 'string',
    files: /^packages\/contract\/src\//,
  },
  {
    name: 'client',
    kind: 'string',
    files: /^packages\/client\/src\//,
  },
];

/** Null for a text that no user reads, such as a string of a development script. */
export function surfaceOf(kind: Surface['kind'], file: string): Surface | null {
  return SURFACES.find((surface) => surface.kind === kind && surface.files.test(file)) ?? null;
}

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle } from './packages/bundle.ts';
import { declarations } from './packages/declarations.ts';

const ROOT = join(import.meta.dirname, '..');

/** The published packages: ESM for Node 20 and newer, bundled with the parts of the contract that they use. */
const PUBLISHED = [
  {
    folder: 'client',
    entries: ['index', 'testing'],
    // It becomes part of customers' programs: at most 60 kB in total.
    isSmall: true,
    hasTypes: true,
    surface: {
      sideEffects: false,
      exports: {
        '.': { types: './lib/index.d.ts', default: './lib/index.js' },
        './testing': { types: './lib/testing.d.ts', default: './lib/testing.js' },
        './package.json': './package.json',
      },
    },
  },
  {
    folder: 'cli',
    entries: ['main'],
    isSmall: false,
    hasTypes: false,
    surface: { bin: { beckon: 'lib/main.js' }, exports: { './package.json': './package.json' } },
  },
];

type Manifest = {
  name: string;
  version: string;
  description: string;
  license: string;
  dependencies?: Record<string, string>;
};

/** Writes `packages/<folder>/dist`, which is what `npm publish` takes. The same sources give the same bytes. */
export async function buildPackages(): Promise<void> {
  for (const definition of PUBLISHED) await build(definition);
}

async function build({
  folder,
  entries,
  isSmall,
  hasTypes,
  surface,
}: (typeof PUBLISHED)[number]): Promise<void> {
  const packageDir = join(ROOT, 'packages', folder);
  const dist = join(packageDir, 'dist');
  const {
    name,
    version,
    description,
    license,
    dependencies = {},
  } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as Manifest;
  // Workspace packages exist only in this repository, so they are bundled.
  const { '@beckon/contract': _, ...outside } = dependencies;
  const files = new Map([
    ...(await bundle({ root: ROOT, folder, entries, isSmall, outside: Object.keys(outside) })),
    ...(hasTypes ? declarations({ root: ROOT, folder, entries }) : []),
  ]);
  const manifest = {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=20' },
    ...surface,
    ...(Object.keys(outside).length === 0 ? {} : { dependencies: outside }),
  };
  rmSync(dist, { recursive: true, force: true });
  for (const [file, text] of files) {
    const target = join(dist, 'lib', file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(packageDir, 'README.md'), join(dist, 'README.md'));
  writeFileSync(join(dist, 'LICENSE'), licenseTerms());
  // Exists from the first release on.
  const changes = join(packageDir, 'CHANGELOG.md');
  if (existsSync(changes)) cpSync(changes, join(dist, 'CHANGELOG.md'));
}

/** The appendix after the terms explains how to apply the license to other works. It is left out. */
function licenseTerms(): string {
  const [terms = ''] = readFileSync(join(ROOT, 'LICENSE'), 'utf8').split(
    /(?<=END OF TERMS AND CONDITIONS\n)/,
  );
  return terms;
}

if (import.meta.main) await buildPackages();

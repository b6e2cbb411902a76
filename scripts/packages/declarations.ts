import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flatten, publicNames, readDeclarations, withoutComments } from './flatten.ts';
import { withoutSchemas } from './schema-types.ts';

/** The entry points of the contract that published packages may use, and their paths below `packages/`. */
const CONTRACT = {
  '@beckon/contract': 'contract/src/index',
  '@beckon/contract/signature': 'contract/src/signature',
};
const CONTRACT_MODULES = ['canonical', 'faults', 'json', 'limits', 'webhooks', 'wire', 'signature'];

type Options = { root: string; folder: string; entries: string[] };

/** Returns a declaration file for each entry, by file name. The first entry is `index`. Comments on public declarations are kept. */
export function declarations({ root, folder, entries }: Options): Map<string, string> {
  const compiled = mkdtempSync(join(tmpdir(), 'beckon-packages-'));
  try {
    compile({ root, folder, entries }, compiled);
    const home = join(compiled, folder, 'src');
    const names = readdirSync(home, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.d.ts'));
    const modules = new Map(
      names
        .toSorted()
        .map((name) => [`./${name.replace('.d.ts', '.ts')}`, readFileSync(join(home, name), 'utf8')]),
    );
    const contract = CONTRACT_MODULES.map((name) =>
      withoutSchemas(withoutComments(readFileSync(join(compiled, `contract/src/${name}.d.ts`), 'utf8'))),
    );
    const declared = readDeclarations([...contract, ...modules.values()]);
    const imports = outsideImports([...modules.values(), ...contract]);
    const files = new Map<string, string>();
    let otherEntryNames = new Set<string>();
    for (const entry of entries) {
      const open = publicNames({ text: modules.get(`./${entry}.ts`) ?? '', modules });
      files.set(`${entry}.d.ts`, tabbed(flatten({ declared, open, otherEntryNames, imports })));
      otherEntryNames = otherEntryNames.union(open);
    }
    return files;
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

/** Maps each name to the line that imports it from Node.js. */
function outsideImports(modules: string[]): Map<string, string> {
  const lines = modules.flatMap((text) => text.match(/^import [^;]* from ['"]node:[^;]*;/gm) ?? []);
  return new Map(
    lines.flatMap((line) =>
      [...(/\{([^}]*)\}/.exec(line)?.[1] ?? '').matchAll(/\w+/g)].map(([name]) => [name, line]),
    ),
  );
}

/** Compiles into `out` with the same paths as below `packages/`. It uses the types of Node 20, so newer APIs are an error already here. */
function compile({ root, folder, entries }: Options, out: string): void {
  const config = join(out, 'tsconfig.json');
  const below = (module: string): string => join(root, 'packages', `${module}.ts`);
  const compilerOptions = {
    rootDir: join(root, 'packages'),
    outDir: out,
    target: 'es2023',
    lib: ['es2023'],
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    newLine: 'lf',
    typeRoots: [join(root, 'node_modules', '@types')],
    // Resolved through node_modules, the contract would be a foreign package and would not be compiled with the rest.
    paths: Object.fromEntries(Object.entries(CONTRACT).map(([name, module]) => [name, [below(module)]])),
  };
  const files = entries.map((entry) => below(`${folder}/src/${entry}`));
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions, files }),
  );
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${folder} could not be compiled for Node 20`);
}

function tabbed(text: string): string {
  return text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
}

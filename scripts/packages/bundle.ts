import { join } from 'node:path';
import { rolldown } from 'rolldown';

type Options = {
  root: string;
  folder: string;
  entries: string[];
  /** Packages that are not bundled. */
  outside: string[];
  isSmall: boolean;
};

/** Bundles the entries with the contract as JavaScript for Node 20. Returns the text of each file name. */
export async function bundle({
  root,
  folder,
  entries,
  outside,
  isSmall,
}: Options): Promise<Map<string, string>> {
  const input = entries.map((entry) => [entry, join(root, 'packages', folder, 'src', `${entry}.ts`)]);
  const build = await rolldown({
    input: Object.fromEntries(input),
    platform: 'node',
    external: (id) =>
      id.startsWith('node:') || outside.some((name) => id === name || id.startsWith(`${name}/`)),
    transform: { target: 'node20' },
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  try {
    const { output } = await build.generate({
      format: 'esm',
      chunkFileNames: '[name].js',
      comments: false,
      minify: isSmall,
    });
    return new Map(
      output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : String(file.source)]),
    );
  } finally {
    await build.close();
  }
}

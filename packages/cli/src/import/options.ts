import type { Beckon } from '@beckon/client';
import type { CellType, FileKind } from '@beckon/contract/files';
import type { Output } from '../output/output.ts';
import type { Shell } from '../shell.ts';

export type ImportKind = FileKind;
export type ImportFormat = 'csv' | 'jsonl';

/** The options of an import, checked as far as possible without the file. */
export type ImportOptions = {
  kind: ImportKind;
  /** A path, or `-` for stdin. */
  file: string;
  /** Null: detected from the file name or the first line. */
  format: ImportFormat | null;
  delimiter: string | null;
  /** Field of the record → column of the file. */
  map: ReadonlyMap<string, string>;
  /** Field of the record → how its text is read. */
  types: ReadonlyMap<string, ValueType>;
  /** The name of all events, if the file has no column for it. */
  name: string | null;
  dryRun: boolean;
  /** Rules may fire. The number of events that the dry run counted, or true to ask for it. */
  live: number | true | null;
  equalRowsAreOne: boolean;
  /** Ignore the checkpoint of an earlier run. */
  restart: boolean;
};

export const VALUE_TYPES = ['text', 'number', 'boolean', 'date', 'json'] as const satisfies CellType[];
export type ValueType = (typeof VALUE_TYPES)[number];

export type ImportIo = {
  /** Null for a dry run. */
  client: Beckon | null;
  output: Output;
  shell: Pick<Shell, 'cwd' | 'now' | 'stdin' | 'stderr' | 'stdout'>;
  /** Null without a terminal; answers null when the user cancels. */
  askText: ((question: string) => Promise<string | null>) | null;
  signal: AbortSignal;
};

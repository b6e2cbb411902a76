import type { Beckon } from '@beckon/client';
import type { CellType, FileKind } from '@beckon/contract/files';
import type { Output } from '../output/output.ts';
import type { Shell } from '../shell.ts';

export type ImportKind = FileKind;
export type ImportFormat = 'csv' | 'jsonl';

/** As it was asked for on the command line, checked as far as one can without the file. */
export type ImportOptions = {
  kind: ImportKind;
  /** A path, or `-` for what is piped in. */
  file: string;
  /** Null: told by the file's name or its first line. */
  format: ImportFormat | null;
  delimiter: string | null;
  /** Field of the record → column of the file. */
  map: ReadonlyMap<string, string>;
  /** Field of the record → how its text is read. */
  types: ReadonlyMap<string, ValueType>;
  /** The name of all events, where the file has no column for it. */
  name: string | null;
  dryRun: boolean;
  /** Rules may fire: as many events as the dry run counted, or true where that is to be asked. */
  live: number | true | null;
  equalRowsAreOne: boolean;
  /** From the first row on, whatever an earlier run left. */
  restart: boolean;
};

export const VALUE_TYPES = ['text', 'number', 'boolean', 'date', 'json'] as const satisfies CellType[];
export type ValueType = (typeof VALUE_TYPES)[number];

export type ImportIo = {
  /** Null where nothing is to be sent. */
  client: Beckon | null;
  output: Output;
  shell: Pick<Shell, 'cwd' | 'now' | 'stdin' | 'stderr' | 'stdout'>;
  /** Null where nobody sits at a terminal; its answer is null when they gave up. */
  askText: ((question: string) => Promise<string | null>) | null;
  signal: AbortSignal;
};

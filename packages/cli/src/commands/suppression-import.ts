import type { SuppressionImport, SuppressionReasonName } from '@beckon/contract/dashboard';
import { EXIT, type ExitCode } from '../failure.ts';
import type { Context } from '../framework/context.ts';
import { fields, viewOf } from '../output/auto.ts';

const IMPORT = 'POST /projects/:project/suppressions/import';
const PREVIEW = 'POST /projects/:project/suppressions/preview-import';
export const LIST_ROUTES = [IMPORT, PREVIEW] as const;

/** A request takes 6 MiB; escaping as JSON doubles a list of quoted lines at most. */
const PIECE_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 5 * 60_000;
const SHOWN_ROWS = 100;

type Options = { reason?: SuppressionReasonName; dry_run?: boolean };

/** Imports a suppression list of any size, in as many requests as it takes. */
export async function importList(
  { api, output }: Context<(typeof LIST_ROUTES)[number]>,
  text: string,
  { reason, dry_run: isPreview = false }: Options,
): Promise<ExitCode> {
  let total: SuppressionImport | null = null;
  for (const { list, firstLine } of piecesOf(text, PIECE_BYTES)) {
    const body = { list, ...(reason === undefined ? {} : { reason }) };
    const { data } = await api.call(isPreview ? PREVIEW : IMPORT, { body, timeoutMs: TIMEOUT_MS });
    const problems = data.problems.map((row) => ({ ...row, line: row.line + firstLine }));
    total = total === null ? { ...data, problems } : sum(total, { ...data, problems });
    await output.progress(`${total.rows.toLocaleString('en-US')} rows`);
  }
  if (total === null) return EXIT.ok;
  await output.value(total, (all) => [
    isPreview ? 'Dry run: the list is unchanged. An import would have this result:' : null,
    viewOf(all, fields('rows added already_suppressed already_ended drafts runs rejected problems')),
  ]);
  return total.rejected > 0 ? EXIT.partly : EXIT.ok;
}

type Piece = { list: string; firstLine: number };

/**
 * Cuts a CSV file between rows. Every piece begins with the header, if the file has one. `firstLine`: what to add to a line
 * number of the piece to get that of the file.
 */
export function* piecesOf(text: string, maxBytes: number): Generator<Piece, void> {
  const lines = text.split('\n');
  // A first row without an address names the columns.
  const header = lines[0]?.includes('@') ? null : (lines[0] ?? '');
  let piece: string[] = [];
  let [bytes, begin] = [0, 0];
  let isQuoted = false;
  for (const [at, line] of lines.entries()) {
    piece.push(line);
    bytes += Buffer.byteLength(line) + 1;
    const quotes = line.split('"').length - 1;
    isQuoted = isQuoted !== (quotes % 2 === 1);
    if (at < lines.length - 1 && (bytes < maxBytes || isQuoted)) continue;
    const isFirst = begin === 0;
    if (isFirst || piece.some((row) => row.trim() !== ''))
      yield isFirst || header === null
        ? { list: piece.join('\n'), firstLine: begin }
        : { list: [header, ...piece].join('\n'), firstLine: begin - 1 };
    [piece, bytes, begin] = [[], 0, at + 1];
  }
}

const COUNTS = [
  'rows',
  'added',
  'already_suppressed',
  'already_ended',
  'drafts',
  'runs',
  'rejected',
] as const;

function sum(first: SuppressionImport, second: SuppressionImport): SuppressionImport {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, first[name] + second[name]]));
  const problems = [...first.problems, ...second.problems].slice(0, SHOWN_ROWS);
  return { ...second, ...counts, problems };
}

import type { ImportFinding } from '@beckon/contract/dashboard';
import { csvLine } from '@beckon/contract/files';
import { plainCell } from '../../platform/text/csv.ts';
import { countFindingRows, listFindings } from './reads.ts';
import { requireImport } from './run/manage-imports.ts';
import { REJECTED } from './run/read-chunk.ts';
import type { Database } from '../../platform/db/database.ts';
import { badCursor, readPage, toPage, routesFor, sendPieces } from '../workspace/index.ts';

const { route } = routesFor();

/** The findings about single rows of an import. */
export const importFindingRoutes = [
  route('GET /projects/:project/imports/:import/findings', {
    needs: 'editor',
    scope: 'import',
    async handle({ db }, { projectId, params: { import: id }, query }) {
      const job = await requireImport(db, { projectId, id });
      const page = readPage(query, 1);
      const { kind = null } = query;
      const { offset, rowsMax: limit, most } = page;
      const after = readPosition(page.after?.[0] ?? '0');
      const rows = await listFindings(db, { ...job, kind, after, offset, limit });
      const total = await countFindingRows(db, { ...job, kind, most });
      return toPage(rows, page, {
        show: ({ n: _n, ...finding }) => finding,
        cursorOf: ({ n }) => [String(n)],
        total,
      });
    },
  }),
  route('GET /projects/:project/imports/:import/rejected.csv', {
    needs: 'editor',
    scope: 'import',
    isHeavy: true,
    slot: 'statement',
    async handle({ db }, { projectId, params: { import: id }, reply }) {
      const job = await requireImport(db, { projectId, id });
      const file = { name: `rejected-${job.id}.csv`, type: 'text/csv; charset=utf-8' };
      return sendPieces(reply, file, lines(db, { projectId, id: job.id }));
    },
  }),
];

const AT_ONCE = 1_000;

async function* lines(
  db: Database,
  ref: { projectId: number; id: string },
): AsyncGenerator<string, void, void> {
  yield `${csvLine(['row', 'field', 'message', 'raw'])}\r\n`;
  for (let after = 0; ;) {
    const rows = await listFindings(db, { ...ref, kind: REJECTED, after, offset: 0, limit: AT_ONCE });
    yield rows.map((row) => `${csvLine(cellsOf(row))}\r\n`).join('');
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) return;
    after = last.n;
  }
}

function cellsOf({ row, field, message, raw }: ImportFinding): string[] {
  return [row === null ? '' : String(row), plainCell(field ?? ''), plainCell(message), plainCell(raw)];
}

function readPosition(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badCursor();
}

import type { BacktestLine } from '@beckon/contract/dashboard';
import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import { backtest, type BacktestInput, type BacktestSlots, type BacktestProgress } from './backtest.ts';
import { standardHeaders } from '../../../platform/http/refuse-request.ts';
import { transportOf } from '../../../platform/http/transport.ts';
import { type RouteRequest, routesFor, SENT, type KitDeps } from '../../workspace/index.ts';
import type { Renderer } from '../../rendering/index.ts';

type Deps = KitDeps & { backtests: BacktestSlots; sendServices: { renderer: Renderer } };
const { route } = routesFor<Deps>();

const DAY_MS = 86_400_000;

/** Runs a rule over stored data and streams its progress; nothing is written. */
export const ruleBacktestRoutes = [
  route('POST /projects/:project/rules/backtest', {
    needs: 'viewer',
    reads: true,
    isHeavy: true,
    slot: 'own',
    handle: run,
  }),
];

type BacktestRequest = RouteRequest<'POST /projects/:project/rules/backtest'>;

/**
 * Faults before the first time range are answered as everywhere else. After that the response is under way, and a fault is its last line. A
 * client that disconnects ends the backtest at the next range.
 */
async function run(deps: Deps, request: BacktestRequest): Promise<typeof SENT> {
  const { projectId, body, reply } = request;
  const lines = createLines(deps, request);
  const releaseSlot = deps.backtests(projectId);
  try {
    const rule = ruleOf(body);
    const watch = (progress: BacktestProgress): void => {
      if (lines.isGone()) throw new ClientDisconnected();
      lines.write({ progress: progressLine(progress) });
    };
    const result = await backtest(
      { db: deps.db, renderer: deps.sendServices.renderer },
      { projectId, sinceMs: body.days * DAY_MS, rule, watch },
    );
    lines.write({ result });
  } catch (error) {
    if (!lines.isBegun()) throw error;
    if (!(error instanceof ClientDisconnected) && !lines.isGone())
      lines.write({ failure: failureLine(deps, error) });
  } finally {
    releaseSlot();
    if (lines.isBegun()) reply.raw.end();
  }
  return SENT;
}

class ClientDisconnected extends Error {}

function ruleOf({ rule, document }: BacktestRequest['body']): BacktestInput['rule'] {
  if (document !== undefined) return { document };
  if (rule !== undefined) return { reference: rule };
  const message = 'Set rule, or document for an unsaved rule';
  throw new Fault('validation_failed', { details: [{ message, field: 'rule' }] });
}

type Lines = { write(line: BacktestLine): void; isBegun(): boolean; isGone(): boolean };

function createLines({ transport }: Deps, { request, reply }: BacktestRequest): Lines {
  const response = reply.raw;
  let isBegun = false;
  return {
    write(line) {
      if (!isBegun) {
        isBegun = true;
        reply.hijack();
        const headers = standardHeaders(request.id, transportOf(transport, request.raw));
        response.writeHead(200, { ...headers, 'Content-Type': CONTENT_TYPE, 'X-Accel-Buffering': 'no' });
      }
      response.write(`${JSON.stringify(line)}\n`);
    },
    isBegun: () => isBegun,
    isGone: () => response.destroyed,
  };
}

const CONTENT_TYPE = 'application/x-ndjson; charset=utf-8';

function progressLine({
  of,
  evaluated,
  at,
  share,
}: BacktestProgress): Extract<BacktestLine, { progress: unknown }>['progress'] {
  return { version: of, evaluated: evaluated, at: iso(at), share: Math.round(share * 1_000) / 1_000 };
}

function failureLine({ log }: Deps, error: unknown): Extract<BacktestLine, { failure: unknown }>['failure'] {
  if (error instanceof Fault) return { code: error.code, errors: error.details };
  log.error({ err: error }, 'backtest.failed');
  return { code: 'server_error', errors: [{ message: 'The backtest could not be finished' }] };
}

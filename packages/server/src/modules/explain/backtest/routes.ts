import { Type } from 'typebox';
import type { BacktestLine } from '@beckon/contract/dashboard';
import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import { backtest, type BacktestAsked, type BacktestPlaces, type BacktestProgress } from './backtest.ts';
import { standardHeaders } from '../../../platform/http/refuse-request.ts';
import { transportOf } from '../../../platform/http/transport.ts';
import { type RouteRequest, routesFor, SENT, type KitDeps } from '../../workspace/index.ts';
import type { Mailroom } from '../../delivery/index.ts';

type Deps = KitDeps & { backtests: BacktestPlaces; mailroom: Mailroom };
const { route } = routesFor<Deps>();

const DAY_MS = 86_400_000;
const DAYS_MAX = 366;

/** Runs a rule over stored data and streams its progress; nothing is written. */
export const ruleBacktestRoutes = [
  route('POST /projects/:project/rules/backtest', {
    needs: 'viewer',
    reads: true,
    isHeavy: true,
    turn: 'own',
    body: Type.Object({
      days: Type.Integer({ minimum: 1, maximum: DAYS_MAX }),
      rule: Type.Optional(Type.String()),
      document: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    handle: run,
  }),
];

type BacktestRequest = RouteRequest<'POST /projects/:project/rules/backtest'>;

/**
 * Faults before the first time range are answered as everywhere else. After that the response is under way, and a fault is its last line. A
 * client that disconnects ends the backtest at the next range.
 */
async function run(deps: Deps, asked: BacktestRequest): Promise<typeof SENT> {
  const { projectId, body, reply } = asked;
  const lines = openLines(deps, asked);
  const leave = deps.backtests(projectId);
  try {
    const rule = ruleOf(body);
    const watch = (progress: BacktestProgress): void => {
      if (lines.isGone()) throw new HungUp();
      lines.write({ progress: toProgress(progress) });
    };
    const result = await backtest(
      { db: deps.db, renderer: deps.mailroom.renderer },
      { projectId, sinceMs: body.days * DAY_MS, rule, watch },
    );
    lines.write({ result });
  } catch (error) {
    if (!lines.isBegun()) throw error;
    if (!(error instanceof HungUp) && !lines.isGone()) lines.write({ failure: toFailure(deps, error) });
  } finally {
    leave();
    if (lines.isBegun()) reply.raw.end();
  }
  return SENT;
}

class HungUp extends Error {}

function ruleOf({ rule, document }: BacktestRequest['body']): BacktestAsked['rule'] {
  if (document !== undefined) return { document };
  if (rule !== undefined) return { reference: rule };
  const message = 'Set rule, or document for an unsaved rule';
  throw new Fault('validation_failed', { details: [{ message, field: 'rule' }] });
}

type Lines = { write(line: BacktestLine): void; isBegun(): boolean; isGone(): boolean };

function openLines({ transport }: Deps, { request, reply }: BacktestRequest): Lines {
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

function toProgress({
  of,
  looked,
  at,
  share,
}: BacktestProgress): Extract<BacktestLine, { progress: unknown }>['progress'] {
  return { version: of, evaluated: looked, at: iso(at), share: Math.round(share * 1_000) / 1_000 };
}

function toFailure({ log }: Deps, error: unknown): Extract<BacktestLine, { failure: unknown }>['failure'] {
  if (error instanceof Fault) return { code: error.code, errors: error.details };
  log.error({ err: error }, 'backtest.failed');
  return { code: 'server_error', errors: [{ message: 'The backtest could not be finished' }] };
}

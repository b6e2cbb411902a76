import Type from 'typebox';
import { raw } from './envelope.ts';
import { type DocumentFault, type ExcludedUsers, RuleDocumentSchema } from './rules.ts';

export type BacktestSample = {
  external_user_id: string;
  at: string;
  subject: string;
  preheader: string;
  body: string;
  /** The email as HTML. Null: it exceeds the limits of rendering. */
  html: string | null;
  missing: string[];
};

export type Backtest = {
  rule: string;
  is_saved: boolean;
  from: string;
  to: string;
  /** The time at which the backtest stopped, because there were too many events. Null: it reached `to`. */
  stopped_at: string | null;
  /** How often the rule was evaluated. */
  evaluated: number;
  enrolled: { users: number; runs: number; holdout: number };
  /** The first 1,000 enrollments. */
  enrollments: { external_user_id: string; at: string; key: string; trigger: string; holdout: boolean }[];
  excluded: ExcludedUsers[];
  waiting: number;
  emails: {
    written: number;
    canceled: number;
    without_address: number;
    per_day: { day: string; emails: number }[];
  };
  frequency_caps: { held: number; displaced: number; sample: { external_user_id: string; at: string }[] };
  samples: BacktestSample[];
  /** Users who reached each step and emails that it drafted, by its path in the document, such as `steps.2.then.0`. */
  steps: { path: string; users: number; emails: number }[];
  comparison: {
    version: number;
    added: { users: number; external_user_ids: string[] };
    removed: { users: number; external_user_ids: string[] };
    emails: number;
    /** Emails of the saved version on the same days. */
    per_day: { day: string; emails: number }[];
  } | null;
  assumptions: string[];
};

/** A line of a backtest's response: its progress (`share` is from 0 to 1), and at the end its result or its failure. */
export type BacktestLine =
  | { progress: { share: number; evaluated: number; at: string; version: 'rule' | 'saved' } }
  | { result: Backtest }
  | { failure: { code: string; errors: DocumentFault[] } };

export const BACKTEST_API = {
  /** Responds with lines of JSON (`BacktestLine`). Closing the connection stops the backtest. */
  'POST /projects/:project/rules/backtest': {
    body: Type.Object({
      days: Type.Integer({ minimum: 1, maximum: 366 }),
      rule: Type.Optional(Type.String()),
      document: Type.Optional(RuleDocumentSchema),
    }),
    response: raw(),
  },
};

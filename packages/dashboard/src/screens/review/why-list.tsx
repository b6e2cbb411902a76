import type { WhyStep } from '@beckon/contract/dashboard';
import {
  CircleCheck,
  CircleX,
  Clock3,
  Flag,
  History,
  type LucideIcon,
  Mail,
  ShieldQuestion,
  Users,
  Zap,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { When } from '../../parts/index.ts';
import classes from './review.module.css';

const ICONS: Record<WhyStep['kind'], LucideIcon> = {
  trigger: Zap,
  condition: ShieldQuestion,
  audience: Users,
  email: Mail,
  deadline: Clock3,
  action: History,
  send_check: ShieldQuestion,
  end: Flag,
};

/** Why this draft exists, step by step, with the values at that time. */
export function WhyList({ steps }: { steps: WhyStep[] }): ReactNode {
  return (
    <ol className={classes.steps}>
      {steps.map((step, at) => (
        <Step key={`${at} ${step.sentence}`} step={step} />
      ))}
    </ol>
  );
}

function Step({ step: { kind, sentence, at, holds, values, actor } }: { step: WhyStep }): ReactNode {
  const Icon = holds === null ? ICONS[kind] : holds ? CircleCheck : CircleX;
  const colour = holds === null ? 'dimmed' : holds ? 'teal-8' : 'red-8';
  return (
    <li className={classes.step}>
      <Icon size={14} color={`var(--mantine-color-${colour})`} aria-hidden="true" />
      <div>
        <div>
          {actor !== null && actor !== 'engine' && <b>{actor}: </b>}
          {sentence}
          {kind === 'condition' && <span> ({holds ? 'true' : 'false'})</span>}
          {at !== null && (
            <>
              {' · '}
              <When at={at} />
            </>
          )}
        </div>
        <Values values={values} />
      </div>
    </li>
  );
}

function Values({ values }: { values: Record<string, unknown> }): ReactNode {
  const entries = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  if (entries.length === 0) return null;
  return (
    <p className={classes.values}>
      {entries.map(([name, value]) => (
        <span key={name}>
          <code>{name}</code>: <Value name={name} value={value} />
          <br />
        </span>
      ))}
    </p>
  );
}

/** A reason, such as that of a suppression. */
const CODE = /^[a-z]+(?:_[a-z]+)+$/;
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A time as a number of milliseconds. */
const isMoment = (name: string, value: unknown): value is number =>
  typeof value === 'number' && value > MOMENTS_FROM && /(?:^|_)(?:at|until|since)$/.test(name);
const MOMENTS_FROM = Date.UTC(2000);

function Value({ name, value }: { name: string; value: unknown }): ReactNode {
  if (isMoment(name, value)) return <When at={new Date(value).toISOString()} />;
  if (typeof value !== 'string') return JSON.stringify(value);
  if (CODE.test(value)) return <code>{value}</code>;
  return MOMENT.test(value) ? <When at={value} /> : value;
}

import type { ReactNode } from 'react';
import type { RuleDay } from '@beckon/contract/dashboard';
import classes from './rules.module.css';

const KINDS = ['enrolled', 'drafted', 'sent', 'goal'] as const;
const [WIDTH, HEIGHT, GAP] = [132, 24, 2];

/** The last seven days as bars. */
export function Spark({ week }: { week: RuleDay[] }): ReactNode {
  const totals = KINDS.map((kind) => week.reduce((sum, day) => sum + day[kind], 0));
  const words = KINDS.map((kind, i) => `${totals[i]} ${kind}`).join(', ');
  const most = Math.max(1, ...week.map(({ enrolled }) => enrolled));
  const step = WIDTH / Math.max(1, week.length);
  return (
    <span title={`Last 7 days: ${words}`}>
      <svg
        className={classes.spark}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Last 7 days: ${words}`}
      >
        {week.map(({ day, enrolled }, i) => {
          const height = enrolled === 0 ? 2 : Math.max(3, (enrolled / most) * HEIGHT);
          return (
            <rect
              key={day}
              className={classes.bar}
              {...(enrolled === 0 ? { 'data-none': true } : {})}
              x={i * step}
              y={HEIGHT - height}
              width={step - GAP}
              height={height}
            />
          );
        })}
      </svg>
    </span>
  );
}

import { Clock } from 'lucide-react';
import type { ReactNode } from 'react';
import { AdvanceClock, TestTime, useTestClock } from '../screens/sandbox/test-clock.tsx';
import classes from './top-bar.module.css';

/** The test clock of a sandbox, in the top bar. */
export function SandboxClock(): ReactNode {
  const aheadMs = useTestClock();
  return (
    <div className={classes.clock} role="group" aria-label="Test clock">
      <Clock size={14} aria-hidden="true" />
      <span className={classes.time}>
        <TestTime aheadMs={aheadMs} />
      </span>
      <AdvanceClock />
    </div>
  );
}

import type { ReactNode } from 'react';
import classes from './command.module.css';
import { Copy } from './copy.tsx';

/** A command or a few lines of code with a copy button. */
export function Command({ text, what = 'command' }: { text: string; what?: string }): ReactNode {
  return (
    <div className={classes.command}>
      <pre tabIndex={0} aria-label={what}>
        <code>{text}</code>
      </pre>
      <Copy text={text} what={what} />
    </div>
  );
}

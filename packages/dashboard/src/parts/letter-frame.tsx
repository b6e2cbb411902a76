import { Skeleton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import classes from './letter-frame.module.css';

export type LetterFrameProps = {
  /** Its own authenticated address, made with `apiUrl`; the answer carries a policy that forbids it everything. */
  src: string;
  /** For those who hear the page: "Letter to ada@x.org". */
  title: string;
  width?: 'desktop' | 'mobile';
  /** The ground behind the letter, as a mail reader in that mode would have it. */
  scheme?: 'light' | 'dark';
  height?: number | string;
};

/** A letter, shown where it can do nothing: no script, no form, no cookie, no way to the page around it. */
export function LetterFrame({
  src,
  title,
  width = 'desktop',
  scheme = 'light',
  height = '70vh',
}: LetterFrameProps): ReactNode {
  const [loaded, setLoaded] = useState<string | null>(null);
  return (
    <div className={classes.ground} data-scheme={scheme}>
      {loaded !== src && <Skeleton className={classes.waiting ?? ''} height={height} />}
      <iframe
        key={src}
        src={src}
        title={title}
        sandbox=""
        referrerPolicy="no-referrer"
        className={classes.frame}
        data-width={width}
        style={{ height }}
        onLoad={() => setLoaded(src)}
      />
    </div>
  );
}

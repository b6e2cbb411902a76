import { Skeleton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import classes from './email-frame.module.css';

export type EmailFrameProps = {
  /** Its authenticated URL, made with `apiUrl`. The response has a content security policy that forbids everything. */
  src: string;
  /** For screen readers: "Email to ada@x.org". */
  title: string;
  width?: 'desktop' | 'mobile';
  /** The background, as in an email client with that color scheme. */
  scheme?: 'light' | 'dark';
  height?: number | string;
};

/** Shows an email in a sandboxed frame: no scripts, forms, cookies or access to the page. */
export function EmailFrame({
  src,
  title,
  width = 'desktop',
  scheme = 'light',
  height = '70vh',
}: EmailFrameProps): ReactNode {
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

import { Group, Skeleton, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { ErrorBox, type Failed } from './error-box.tsx';
import classes from './page.module.css';

export type PageProps = {
  title: string;
  /** Beside the title: a count, a state. */
  beside?: ReactNode;
  actions?: ReactNode;
  /** The content takes the whole height and scrolls by itself: panes, virtual lists. */
  fill?: boolean;
  children: ReactNode;
};

/** The frame of a screen: its one `h1`, its actions, the title of the tab. */
export function Page({ title, beside, actions, fill = false, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Beckon`;
  }, [title]);
  return (
    <div className={fill ? `${classes.page} ${classes.fill}` : classes.page} data-fill={fill}>
      <header className={classes.head}>
        <Group gap="sm" wrap="wrap">
          <Title order={1} size="h3" tabIndex={-1} id="page-title">
            {title}
          </Title>
          {beside}
        </Group>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </header>
      <div className={classes.body}>{children}</div>
    </div>
  );
}

/** As much of a query as this needs; `useApi` and `useApiInfinite` give it. */
export type Loading<T> = {
  data: T | undefined;
  error: Failed | null;
  isPending: boolean;
  refetch: () => unknown;
};

export type LoadedProps<T> = {
  query: Loading<T>;
  /** The final shape, without its content; lines, if nothing is said. */
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
};

/** What was asked for, once it is there; its skeleton before, its error instead. What is already there stays beside an error. */
export function Loaded<T>({ query, skeleton, children }: LoadedProps<T>): ReactNode {
  const { data, error, isPending, refetch } = query;
  if (data !== undefined)
    return (
      <>
        {error && <ErrorBox error={error} title="What you see may be old" retry={() => void refetch()} />}
        {children(data)}
      </>
    );
  if (error) return <ErrorBox error={error} retry={() => void refetch()} />;
  return isPending ? <div aria-busy="true">{skeleton ?? <Lines />}</div> : null;
}

/** A skeleton of so many lines of text. */
export function Lines({ count = 4 }: { count?: number }): ReactNode {
  return (
    <Stack gap="xs" py="xs">
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} height={14} width={`${90 - ((index * 17) % 40)}%`} />
      ))}
    </Stack>
  );
}

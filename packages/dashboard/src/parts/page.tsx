import { Group, Skeleton, Stack, Title } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import { BookOpen, ChevronRight } from 'lucide-react';
import { createContext, type ReactNode, Suspense, use, useDeferredValue, useEffect } from 'react';
import { ErrorBox, type Failed } from './error-box.tsx';
import { lazyPart } from './load-part.ts';
import classes from './page.module.css';

export type PageProps = {
  title: string;
  /** Beside the title: a count, a state. */
  beside?: ReactNode;
  actions?: ReactNode;
  /** The content takes the full height and scrolls: panes, virtual lists. */
  fill?: boolean;
  children: ReactNode;
};

/** `trail`: the pages above this one, the nearest last. `docs`: the page of the guide about this screen. */
export type PageContext = { trail: { label: string; link: LinkProps }[]; docs: string | null };

/** Provided by the frame of the page, so that no screen can lack its breadcrumb or its documentation. */
export const PagePlace = createContext<PageContext>({ trail: [], docs: null });

/** The frame of a screen: its breadcrumb, its `h1`, a link to its documentation, its actions, the title of the tab. */
export function Page({ title, beside, actions, fill = false, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Beckon`;
  }, [title]);
  const { trail, docs } = use(PagePlace);
  return (
    <div className={fill ? `${classes.page} ${classes.fill}` : classes.page} data-fill={fill}>
      {trail.length > 0 && <Breadcrumb trail={trail} />}
      <header className={classes.head}>
        <Group gap="sm" wrap="wrap">
          <Title order={1} size="h3" tabIndex={-1} id="page-title">
            {title}
          </Title>
          {beside}
          {docs !== null && (
            <a
              className={classes.docs}
              href={docs}
              target="_blank"
              rel="noopener"
              aria-label="Docs for this page"
            >
              <BookOpen size={14} aria-hidden="true" />
              Docs
            </a>
          )}
        </Group>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </header>
      <div className={classes.body}>{children}</div>
    </div>
  );
}

function Breadcrumb({ trail }: Pick<PageContext, 'trail'>): ReactNode {
  return (
    <nav aria-label="Breadcrumb">
      <ol className={classes.trail}>
        {trail.map(({ label, link }) => (
          <li key={label}>
            <Link {...link}>{label}</Link>
            <ChevronRight size={14} aria-hidden="true" />
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The used part of a query; the result of `useApi` or `useApiInfinite`. */
export type LoadedQuery<T> = {
  data: T | undefined;
  error: Failed | null;
  isPending: boolean;
  refetch: () => unknown;
};

export type LoadedProps<T> = {
  query: LoadedQuery<T>;
  /** The shape of the content; lines by default. */
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
};

/** Renders a query's data, a skeleton while it loads, or its error. Data that was loaded before stays beside an error. */
export function Loaded<T>({ query, skeleton, children }: LoadedProps<T>): ReactNode {
  const { data, error, isPending, refetch } = query;
  const hasData = data !== undefined;
  // The first data may show a whole screen, so it is rendered in pieces of some milliseconds, after the skeleton.
  const isReady = useDeferredValue(hasData);
  if (hasData && isReady)
    return (
      <>
        {error && <ErrorBox error={error} title="This page may be outdated" retry={() => void refetch()} />}
        {children(data)}
      </>
    );
  if (error?.status === NOT_FOUND && !hasData)
    return (
      <Suspense fallback={<Lines />}>
        <NotHere error={error} />
      </Suspense>
    );
  if (error && !hasData) return <ErrorBox error={error} retry={() => void refetch()} />;
  return isPending || hasData ? <div aria-busy="true">{skeleton ?? <Lines />}</div> : null;
}

const NOT_FOUND = 404;
/** Loaded when it is needed, which is seldom. */
const NotHere = lazyPart(() => import('./not-here.tsx'), 'NotHere');

/** A skeleton of this many lines of text. */
export function Lines({ count = 4 }: { count?: number }): ReactNode {
  return (
    <Stack gap="xs" py="xs">
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} height={14} width={`${90 - ((index * 17) % 40)}%`} />
      ))}
    </Stack>
  );
}

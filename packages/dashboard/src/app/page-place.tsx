import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useProject } from '../api/index.ts';
import { type PageContext, PagePlace } from '../parts/page.tsx';
import { docsOf } from './docs.ts';
import type { NavPage } from './nav-page.ts';
import { placeOf } from './place.ts';

/** Gives the page of a project its breadcrumb and the link to its documentation. */
export function PlaceProvider({ children }: { children: ReactNode }): ReactNode {
  const { pathname } = useLocation();
  const { id } = useProject();
  const context = useMemo(() => contextOf(pathname, String(id)), [pathname, id]);
  return <PagePlace value={context}>{children}</PagePlace>;
}

function contextOf(pathname: string, project: string): PageContext {
  const place = placeOf(pathname);
  if (!place) return { trail: [], docs: null };
  const { page, parent, isDetail } = place;
  const crumbOf = ({ label, to }: NavPage): PageContext['trail'][number] => ({
    label,
    link: { to, params: { project } },
  });
  const docs = docsOf(page.to);
  if (!isDetail) return { trail: [], docs };
  // The tab that an entry opens has the name of the entry: an email is below "Emails", not "Emails, Sent".
  const above = parent === null ? [page] : parent.to === page.to ? [parent] : [parent, page];
  return { trail: above.map(crumbOf), docs };
}

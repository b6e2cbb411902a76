import type { LinkState } from '@beckon/contract/dashboard';
import { Unlink } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Empty, Loaded } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Narrow } from './narrow.tsx';

type LinkPageProps = {
  title: string;
  text?: string | undefined;
  token: string;
  /** How to get a new link. */
  gone: string;
  children: (link: LinkState) => ReactNode;
};

/** A page that a link with a token opens. */
export function LinkPage({ title, text, ...link }: LinkPageProps): ReactNode {
  return (
    <Narrow title={title} text={text}>
      <LinkLoaded {...link} />
    </Narrow>
  );
}

/** The target of a link, or what to do about an expired one. */
function LinkLoaded({ token, gone, children }: Omit<LinkPageProps, 'title' | 'text'>): ReactNode {
  const link = useApi('GET /links', { query: { token } }, { staleTimeMs: Infinity });
  if (link.error?.status === 404)
    return (
      <Empty
        icon={Unlink}
        title="This link is no longer valid"
        action={<LinkButton to="/sign-in">Sign in</LinkButton>}
      >
        It was used, expired, or was replaced by a newer link. {gone}
      </Empty>
    );
  return <Loaded query={link}>{({ data }) => children(data)}</Loaded>;
}

import { CheckCircle2, Hammer } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AudienceListed } from '@beckon/contract/dashboard';
import { Mark } from '../../parts/index.ts';

/** How far a definition has come that is being built in the background. */
export function Built({ audience: { state, progress } }: { audience: AudienceListed }): ReactNode {
  if (state === 'ready') return <Mark icon={CheckCircle2} tone="good" label="Ready" />;
  const share = progress && progress.users > 0 ? Math.floor((100 * progress.built) / progress.users) : 0;
  const word = state === 'building' ? 'Being built' : 'Being rebuilt';
  return (
    <Mark
      icon={Hammer}
      tone="info"
      label={`${word}, ${share} %`}
      {...(state === 'rebuilding'
        ? { title: 'The members of the old definition are served until then' }
        : {})}
    />
  );
}

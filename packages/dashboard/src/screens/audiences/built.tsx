import { CheckCircle2, Hammer } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AudienceListed } from '@beckon/contract/dashboard';
import { Mark } from '../../parts/index.ts';

/** The build progress of a definition. */
export function Built({ audience: { state, progress } }: { audience: AudienceListed }): ReactNode {
  if (state === 'ready') return <Mark icon={CheckCircle2} tone="good" label="Ready" />;
  const share = progress && progress.users > 0 ? Math.floor((100 * progress.built) / progress.users) : 0;
  const word = state === 'building' ? 'Building' : 'Rebuilding';
  return (
    <Mark
      icon={Hammer}
      tone="info"
      label={`${word}, ${share} %`}
      {...(state === 'rebuilding'
        ? { title: 'Until then, the members of the previous definition are used' }
        : {})}
    />
  );
}

import re,collections
import analyze as A
from graph import SRC,is_test,strip_comments
g,m=A.load('.')
use=collections.defaultdict(set)
for e in g.edges:
    if not is_test(e['a']) and e['a']!=e['b'] and m.get(e['a'])!='-': use[(e['b'],e['name'])].add(e['a'].replace(SRC+'/',''))
FN=re.compile(r'(?m)^export (?:async )?function (\w+)[^{]*?\{\n((?:.*\n)*?)\}\n')
out=[]
for f in g.src:
    if is_test(f) or not f.endswith('.ts'): continue
    t=strip_comments(g.text[f])
    fns=list(FN.finditer(t))
    for x in fns:
        b=' '.join(x.group(2).split())
        mm=re.fullmatch(r'(?:return |await |return await )?(?:\(await )?(\w+)\((.*)\);?',b)
        if mm and b.count(';')<=1 and '=>' not in b and len(b)<160 and mm.group(1) not in('Math','String','Number','Boolean','Type','BigInt','Promise','new','createHash') and not re.search(r'\btx\.|\bdb\.',mm.group(1)):
            out.append((f,x.group(1),mm.group(1),b,g.lines(f),len(fns),sorted(use[(f,x.group(1))])))
print(len(out))
for f,n,c,b,l,k,u in sorted(out,key=lambda x:(x[5]>1,x[0])):
    print(f.replace(SRC+'/',''),l,'fns',k,'|',n,'->',b[:110],'| <-',' '.join(u)[:160])

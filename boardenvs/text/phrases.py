"""What writers say of moves, as patterns: that one is chosen, rejected, or somebody else's.

Texts are in small letters. Each pattern is asked of a part of one sentence, so its work is bounded.
"""

from __future__ import annotations

import re

_DO = (
    "play|move|choose|select|pick|place|put|go|take|make|capture|commit|decide|settle|opt|stick|"
    "advance|step|slide|jump|recommend|suggest|submit|answer|drop|set|try|prefer|start|begin|open|"
    "continue|proceed|respond|reply|counter|react|give|switch|block|stop|prevent|parry|meet|defend|"
    "attack"
)
_DOING = (
    "playing|moving|choosing|selecting|picking|going|placing|taking|settling|answering|trying|"
    "responding|replying|starting|changing|inclined to play"
)
_DONE = "played|moved|chose|chosen|select(?:ed)?|picked|decided|settled|opted|placed|gone"
_WILL = (
    "'ll|'d| will| shall| would| must| have to| need to| now|'m going to| am going to| hereby|"
    " thus|"
    " therefore| simply| still| just| finally| instead| then| rather| do| should| want to| like to|"
    " choose to| decide to| think i(?:'ll| will| would|'d)?"
)
_BEST = (
    "best|final|strongest|top|obvious|logical|key|clear|correct|right|chosen|optimal|winning|only|better|safest|natural|legal|"
    "selected|recommended|new|my|good|strong|reasonable|solid"
)
_MOVE = (
    "move|choice|option|answer|square|play|one|continuation|decision|pick|selection|reply|"
    "response|turn"
)
_IS = r"(?: is| will be| would be| must be| remains| seems to be| appears to be|:)"
_SO = "therefore|thus|hence|so|finally|conclusion|in conclusion|to conclude|overall|decision"
_NO = (
    "wait|no|nope|actually|instead|correction|scratch that|on second thoughts?|rather|sorry|oops|"
    "on reflection"
)

# "I play", "my move" in other languages.
_FOREIGN = (
    "ich (?:ziehe|spiele|wähle|nehme|setze)|(?:ziehe|spiele|wähle) ich|mein zug|"
    "je (?:joue|choisis|déplace|vais jouer)|mon coup|juego|voy a jugar|elijo|muevo|"
    "mi (?:movimiento|jugada)|gioco|scelgo|muovo|la mia mossa|jogo|escolho|"
    "meu (?:movimento|lance)|хожу|играю|выбираю|мой ход"
)

# What says that the move named next is the one.
COMMITS = re.compile(
    rf"\bi(?:{_WILL}){{0,4}} (?:{_DO})\b"
    rf"|\b(?:i(?:{_WILL}){{1,4}}|let me) \w+(?: my \w+)? with\b|^\W*\w+ing with\b"
    rf"|\bwe(?:'ll| will| should| must)? (?:{_DO})\b"
    rf"|\byou should (?:{_DO})\b"
    rf"|\bi(?:'ve| have)?(?: finally| now)? (?:{_DONE})\b"
    rf"|\bi(?:'m| am)(?: now)? (?:{_DOING})\b"
    r"|\bi (?:mean|meant)\b"
    r"|\bi(?:'d| would| will|'ll) (?:say|change (?:my move |it )?to)\b"
    rf"|\b(?:my|your) (?:\w+ ){{0,2}}(?:{_MOVE})(?: now| here)?{_IS}"
    rf"|\b(?:{_BEST}) (?:\w+ )?(?:{_MOVE})"
    rf"(?: that \w+ \w+| here| for me| now| overall| in this position| available| i have)*{_IS}"
    r"|\b(?:and|but|so)(?: (?:i|finally|now|thus|therefore|instead|will|i'll))* "
    rf"(?:{_DO}|{_DONE})\b"
    rf"|(?:\bthe|^\W*)\b ?(?:move|answer|choice)(?: i(?:'d like to|'ll| will)? \w+)?{_IS}"
    rf"|\b(?:let's|let me|let us) (?:just )?(?:{_DO}|do)\b"
    r"|\b(?:going|gone|go|went) (?:ahead )?with\b|\bsettl(?:e|ing) (?:on|for)\b|\bopt(?:ing)? for\b"
    r"|\bby (?:playing|moving|placing)\b|\bdecid(?:ed|ing) (?:on|to play)\b"
    r"|\b(?:that|which|this) leaves(?: me)?(?: with)?(?: only| just)?\b"
    rf"|\b(?:{_SO}),?:? (?:it's |it is )?(?:the move is )?$"
    r"|(?:^|:)\W*(?:(?:and|then|now|ok|okay|alright|sure),? ){0,2}"
    r"(?:play|place|move|take|go|bring|send|push|slide|playing|moving|placing|choose|choosing)"
    r"(?: with| to| at| on| it at| (?:a|my|the) \w+(?: piece)?(?: on| at| from)?)?\W{0,3}$"
    rf"|(?:\b(?:{_NO})\b[^a-z0-9]{{1,6}})+(?:make that |it's |it is |better )?$"
    rf"|\b(?:{_FOREIGN})\b|[我走下选擇择](?:择|擇|下|走)?|私の手は"
)
BEST_IS = re.compile(
    rf"\b(?:{_BEST}|most \w+|the(?! other| last| worst| second| first)) (?:\w+ )?"
    rf"(?:{_MOVE}|(?<!the )(?:candidate|idea|way|thing))\b[^.;,]{{0,60}}?{_IS}\W{{0,4}}$"
)
# What says that the move named before is the one, and not that named after.
BETTER = re.compile(
    r" (?:is|seems|looks|would be) (?:\w+ )?(?:(?:better|stronger|safer) than|(?:superior|"
    r"preferable) to) "
    r"| (?:clearly |easily |simply )?(?:beats|outclasses|outperforms|ahead of) "
)
PRAISED = re.compile(
    r"\W{0,3} (?:as |to be |is )?(?:clearly )?(?:the |my )?"
    r"(?:best|strongest|better|stronger|highest|most|safest|favou?rite)\b"
    r"(?! for (?:the|my|@)|[^.;,]* is\b)"
)
UNBEATEN = re.compile(
    r"\b(?:nothing|no|(?:all|every|any) other)\b[^.;,]{0,30}"
    r"(?:(?:better|worse|weaker)[^.;,]{0,15} than|beats)\W{0,3}$"
)
IF_ANY = re.compile(
    r"\bif i (?:must|had to|have to|were to) (?:choose|pick|decide)\b(?: one)?,?"
    r"|\b(?:if|when) in doubt,?"
)
# The same, said after the move.
CONFIRMS = re.compile(
    r"[^a-z0-9]{0,4}(?:it is\b(?! not| illegal| a )|it's\b"
    r"|is (?:therefore |thus |then |clearly |definitely )?(?:my|the)"
    r" (?!worst|wrong|last|other|second)(?:\w+ ){0,2}"
    r"(?:move|choice|answer|pick|decision|play|selection|one|way to go|winner)\b(?! for \w)"
    r"|is (?:correct|right)\b|(?:instead|for sure|for me)\W*$|is what i(?! should avoid)|wins\W*$"
    r"|stands out\b|is (?:clearly |the )?(?:best|strongest)\b"
    r"|is (?:better|stronger|safer)\W*(?:$|than)"
    r"|(?:is|was|feels|seems) (?:forced|necessary|required|a must)|(?:comes?|came) out on top"
    r"|wins (?:the game |immediately|at once|on the spot)|now\b)"
)
INTRODUCES = re.compile(
    r":\W{0,4}$"
    r"|^\W*(?:since|because|after|given|considering|with|without|as|to|for|against|based|"
    r"in (?:order|view|light))\b"
    r"[^.;]*,\W*$"
)
LISTS = re.compile(
    r"\b(?:legal|options?|candidates?|threat|history|last (?:move|turn)|next turn|reply|replies|"
    r"responses?|previous|available|example|such as|if|then|expected|alternatives?|evaluate|"
    r"backup|(?:second|2nd|third|3rd) (?:choice|option|idea|best))\b[^.;]*$"
    r"|\b(?:runner-?up|worst|second(?:\Wbest)?|next|bad|weak|other)\W*$"
)
# Before a choice: then it is none, or one of another time.
_IF = (
    "no way|were (?:it|i)|if|when|whenever|unless|once|should i|had i|"
    "were i|suppose|supposing|what if|next turn|(?:on|for|in) (?:my|the) next move|whether"
)
_NEAR = (
    "last turn|last time|before|earlier|previously|refus(?:e|es|ing)|could|might|may|can|cannot|"
    "can't|won't|don't|"
    "didn't|wouldn't|not|never|considered|tempted|"
    "thought about|wanted|would have|going to have|later|afterwards|then|so that(?!'s)|hoping|"
    "plan(?:ning)? to|threaten(?:s|ing)?|i was|how|which"
)
THEN = re.compile(r"^\W*(?:(?:ok|okay|well|yes|no|so|and)\b\W*)?then\b,?")
IF = re.compile(rf"\b(?:{_IF})\b[^.;:,\n]*$")
UNLESS = re.compile(
    rf"\b(?:{_IF})\b[^.;:\n]*$|\b(?:{_NEAR})\b[^.;:,\n]*$|\bhad\W*$"
    r"|^\W*(?:(?:in|on) )?(?:(?:the|my) )?(?:last|earlier|previous(?:ly)?)\b"
    r"(?: (?:turn|move|time|round))?,?\W*$"
)
ONLY_IF = re.compile(
    r"\W{0,3}(?:if|unless) (?:it|only|not|that|there) (?:were|was|is|had)"
    r"| if i could|\W(?:next turn|later|earlier|previously|last (?:turn|time|move))\b"
)
AFTER = re.compile(r"\bafter\b")

# Between what was said before and the move: it is another that is meant.
_LOOKED = (
    "avoid(?:s|ing)?|instead of|rather than|over|reject(?:s|ed|ing)?|rul(?:e|ed|ing) out|withdraw|"
    "dismiss(?:ed|ing)?|than|except|besides|unlike|ignor(?:e|ed|ing)|against|discard(?:ed|ing)?|"
    "skip(?:ped|ping)?|consider(?:ed|ing|s)?|tempt(?:ed|ing)(?: by)?|thought (?:of|about)|"
    "thinking (?:of|about)|was going to|looked at|looking at|look at|compared (?:to|with)|versus|"
    "vs|(?:moves|options|squares) like|from|tried|examine|examining|check|checking|analy[sz]e|"
    "analy[sz]ing|could|might|may|can|if|whether|abandon(?:ing)?|neither|so (?:does|do|is|are)|"
    "torn between|(?:take|took) back|retract|refuse|pass on|no to|contrary to|"
    "(?:any|every)thing but|afraid of|fear|as for|leaning towards?|although|while|even though"
)
REJECTS = re.compile(
    rf"(?:(?:n't|\bnot|\bnever) (?:think|believe|see|trust|find)|n't"
    rf"|\b(?:not|never|no longer|cannot|nor|{_LOOKED}))\b"
    r"(?: to| i| we| play| playing| moving| move| the| a| at| on| with| option| or| simply| also|"
    r" both| like| want| see){0,4}\W{0,3}$"
)
INSTEAD = re.compile(
    r"\b(?:instead of|rather than|unlike|contrary to|compared (?:to|with)|apart from|aside from|"
    r"besides) [^,]*(?:, ?|\bthere's )$"
)
# Before a move in its clause, with nothing that chooses it.
NEGATIVE = re.compile(
    r"(?:n't(?! decide)|\b(?:not|no(?! choice| alternative| doubt| other| better| option)|never|"
    r"doubts?|worr(?:y|ied)|hardly|hopes?|too \w+))\b[^.;,:]*$"
)
COULD = re.compile(r"\b(?:toss-up|undecided|torn|could|might|may|can)(?: \w+){0,3}\W{0,3}$")
_BAD = (
    "not|illegal|bad|worse|weak(?:er)?|impossible|blocked|risky|inferior|a mistake|a blunder|"
    "out\\b|"
    "refuted|losing|terrible|tempting|interesting|an option|possible|legal|another|invalid|poor|"
    "unavailable|dangerous|wrong|slow(?:er)?|lose|leave|let|allow|hand|give|fail|walk|passive|"
    "premature|the worst|the last thing|pointless|useless|an error|taken|occupied|ruled|no good|"
    "too|attractive|aggressive|annoying|played\\b"
)
REJECTED = re.compile(
    r"[\"')\]]{0,2},?(?: move| option)?"
    r"(?:,? (?:which|that|but it|but that|but this|though it))? ?"
    r"(?:(?:is|was|'s|would be|looks|look|seems|are|would|might be|could be|may be)"
    r" (?:also |too |simply |clearly |actually |probably |far |much |just |only |rather |quite |"
    r"very )*"
    rf"(?:{_BAD})"
    r"|: ?(?:not|no|bad|weak|illegal|fails|loses)\b"
    r"|isn't|wasn't|wouldn't|(?:would|could|should|might) have|fails|loses|drops|does too|hangs|"
    r"blunders|invites|makes no|is what (?:the opponent|i should avoid)|doesn't|does not|cannot|"
    r"can't|won't|runs into|"
    r"gives (?:away|up|the opponent|my opponent)|allows|leaves|lets|walks into|hands\b)"
)
# Without a choice: what takes up the choice before.
WITHDRAWS = re.compile(
    r"\b(?:wait|hmm|no|actually|but)\b.*\b(?:illegal|not legal|bad|blunder|doesn't work|"
    r"isn't legal|wrong|loses|not allowed|mistake|impossible|reconsider|think again)\b"
)

# After an answer in a line of its own, "Move: d3": what follows takes it back.
RETRACTS = re.compile(
    r"(?:^|[.!?\n])\W*(?:wait|hold on|no, wait|sorry|correction|scratch that|"
    r"on second thoughts?|oops|actually)\b"
)

_OTHERS = (
    r"\b(?:the opponent|opponent|my opponent|enemy|they|he|she|{other})(?:'s|'ll|'d)?"
    r"(?: [a-z']+){{0,4}} (?:play|move|repl|respond|answer|captur|take|go|place|counter|threat|"
    r"step|"
    r"jump|want|need|like|use|set|choice|option|best|can|could|might|may|will|would|has|had|just|"
    r"next|then|on|at|reach|get|win|follow|attack|block|plan)[^.;]*$"
)
_OWN = (
    r"\b{own}(?:'s move is| (?:should |now |to )?"
    r"(?:plays?|moves?|places?|takes?|chooses?|passes|goes|steps?))\b"
)
# Before a move that is neither chosen nor rejected: it is spoken of for another reason.
AWAY = re.compile(
    r"\b(?:responses?|repl(?:y|ies|ied)|responds?|answers?|answered by|followed by|"
    r"follow(?:ing)? up|next turn|next move|later|following|last (?:move|turn)|previous(?:ly)?|"
    r"earlier|prepar(?:es|ing)|planning|idea of|so that(?!'s)|hop(?:e|ing)|anticipat\w*|expect\w*|"
    r"then|afterwards|if|eventually|in (?:two|three) moves|eyeing|eyes|for example|such as|e\.g|"
    r"options? (?:are|include)|legality|let(?:'s| me) (?:check|verify|examine|consider)|"
    r"candidate\b|history|refuted by|plan)\b[^.;]*$"
    r"|\b(?:threat(?:en|ens|ening)?|prevent(?:s|ing)?|block(?:s|ing)?|stop(?:s|ping)?|after|"
    r"allow(?:s|ing)|attack(?:s|ing)?|defend(?:s|ing)?|connect(?:s|ing|ed)?|flip(?:s|ping)?|"
    r"next to|adjacent to|near|(?<!it is )(?<!it's )(?<!decide )between|towards|"
    r"legal(?: moves?)?|possible|available|from|because|since|fails? to|runs into|due to|"
    r"protects?|controls?|captur(?:es|ing)|second|third|backup|worst|otherwise|mistake|blunder|"
    r"bad idea)\b[^.;,]*$"
)
AGAINST = re.compile(
    r"\b(?:(?:respond|reply|answer|react)(?:ing)? to|(?:counter|block|stop|prevent|meet|"
    r"parry)(?:ing)?) $"
)
WITH = re.compile(r" (?:with|by) (?:playing |moving |(?:the|a) (?:\w+ )?)?")
WITH_IT = re.compile(r",? (?:with|by|i)(?: playing| moving| play| (?:the|a)(?: \w+)?)? ?| to ")

# Between two moves: the second is what is said of the first.
SAME_CLAUSE = re.compile(
    r"(?=[^a-z]*[a-z])(?!.*\bas (?:good|strong) as)"
    r"(?:(?![,;:()]|\b(?:and|but|or|so|while|whereas|though)\b).)*"
)
FROM = re.compile(r"\bfrom\W{1,3}$")
TAKES_IT = re.compile(
    rf"\b(?:i|we)(?:'m|'ll| will| am)* (?:{_DO}|{_DOING})(?: with)? (?:it|that)\b"
)
LINK = re.compile(r"(?:,|/|\s|\bpossibly\b|\bmaybe\b|\bperhaps\b|\band\b|\bor\b|\bnor\b|&)+")
ALSO = re.compile(r"\b(?:or|and)\b|[/&]")

PASSES = re.compile(
    r"^\W*(?:pass|skip|noop)\W*$|\b(?:must|have to|will|'ll|forced to|(?:choose|decide|going|"
    r"want) to|so i|i) (?:therefore |now )?(?:pass|skip)\b"
    r"(?! (?:on|the|it|this|that|over)\b(?! turn| move))"
)
WEIGHS = re.compile(
    r"\b(?:let me|let's|would|could|might|maybe|perhaps|consider|option|candidate|look|check|"
    r"first|if|hmm|wait|analy[sz]e|but|next|legal|then|and|also|possible)\b"
)


def others(role: str) -> re.Pattern[str]:
    """Before a move: that it is one of this role's, the other side."""
    return re.compile(_OTHERS.format(other=re.escape(role or "opponent")))


def own(role: str) -> re.Pattern[str]:
    """That this role, the writer, plays the move named next."""
    return re.compile(_OWN.format(own=re.escape(role)))

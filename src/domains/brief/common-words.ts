/** Whether common vocabularies have a word as one token, also capitalized and with a space before it. */
export function isCommonWord(word: string): boolean {
  words ??= new Set(listWords());
  return words.has(word);
}

let words: ReadonlySet<string> | undefined;

function listWords(): string[] {
  return `
ab ability abort about above abs absolute abstract ac acc accept access according account accounts accuracy ack
act action actions activ activation active activities activity actor acts actual actually ad adapter add added
adding additional addr address addresses adds adj adjust admin administr ads adv advance advanced af aff
after ag again against age agency agent agents ahead ai air airport ak al alarm album alert alg algorithm alias
align alignment alive all alle alloc allow allowed allows almost along alpha already als also alt alter altern
alternative although always am amb among amount an anal analysis anchor and android ang angle anim animal
animated animation ann annual another ans answer answers ant anti any anything ao ap api app appe appearance
append application applications apply appointment appro approval approved approx apps aqu ar arc arch
architecture are area areas arg args argument arguments arm around arr array arrow art article articles artist
as asc aside ask aspect ass assembly assert asset assets assign assigned assignment assistant ast async at ath
att attach attached attack attempt attention attr attribute attributes au aud audio auf aus aut auth author
authority authors auto autom automatic aux av available average avoid aw await award away awesome ax axis az ba
baby back background backup bad bag bal balance ball ban band bank bar bars bas base based basic basket bat
batch battery battle be bear beat because bed been beer before begin beh behavior bei being bel below ben benef
ber bes best bet beta better between bi bias bid big bill bin binary bind binding bio bird birth birthday bit
bitcoin bits bl black blank blo block blocks blog blood blue bo board body bold bomb bon bond bone bonus book
books bool boolean boost boot border born boss bot both bottom bound bounds bow box boxes boy br brain branch
brand bre break breaking bridge brief bright bring bro broadcast broken brown browser brush bs btn bu bucket
budget buf buff buffer bug build builder building built bullet bundle bur burn bus business busy but button
buttons buy by byte bytes ca cache cal calc calcul calculate calendar call callback called calling calls cam
camera camp campaign can cancel candidate cannot canvas cap capacity capital capt caption capture car carbon
card cards care career cars cart cas case cases cash cast cat catalog catch categories category cause cd ce cele
cell cells cent center central centre cert certificate ch cha chain chair challenge change changed changes
changing channel channels chapter char character characters charge charset chart chat che cheap check checked
checking checks chem chief child children chip cho choice choices choose chunk church ci circle cit cities city
civil cl claim claims class classes classic clean clear click client clients clin clinical clip clock clone
close closed closing cloud club cluster cmd co coach coal code codes coding coffee coin col cold coll collect
collection collections college colon color colors colour column columns com comb combat combine combined come
comfort coming comm command commands comment comments commercial commission commit common community como comp
compact companies company compare comparison compet complete completed completion complex component components
composition comput compute computer con concept cond condition conditions conf conference config configure
confirm conn connect connected connection connections cons consider console const constant constants constraints
construct construction constructor consult consumer cont contact container contains content contents context
contin continue contr contract contracts control controller controls conv conversation conversion convert
converted cook cookie cookies cool coord coordinate coordinates cop copy copyright cor core corn corner correct
cos cost cou could count counter countries country counts county cour course courses court cover coverage cr
craft cre cream create created creates creating creation creative credentials credit crime crit criteria
critical cro cross crow crypt cs css csv cu culture cum cur currency current currently cursor curve custom
customer customers cut cy cycle da daily dam damage dan danger dar dark das dat data database dataset date dates
datos day days db de dead deal death debug dec decimal decision deck decl declare decode decor deep def
default defaults define defined definition deg degree degrees del delay delegate delete deleted delivery delta
dem demo den density dep depart department depending deploy deposit depth der derived des desc describe
description descriptor design desk desktop dest destination destroy det detail details detect dev develop
developer development device devices di dia dialog dict dictionary did die diff difference different difficulty
dig digit digital dim dimension dimensions dir dire direct direction director directory dis disable disabled
disc discount discover discussion disk disp dispatch display dist distance distribution district div division do
doc doctor document documents does dog doing dom domain don done door dos dot double down download dr draft drag
draw drawing dream drink drive driver drivers drop drug dry dt du due dummy dump dur duration during dynamic
each ear early earn earth ease east easy eat ec echo ed edge edit editing edition editor educ education eff
effect effective effects eight ein either el ele elect electric elem element elements else em email emb embed
emp employee employees empty en enable enabled enc encode encoding end ending endpoint enemy energy eng engine
engineering enh ens ensure ent enter entities entity entr entre entries entry enum env environment ep episode
epoch eq equ equal equals equipment er err error errors es esc escape esp ess essay est esta este
estimated et eth eu ev eval evaluate evaluation even event events ever every everyone everything ex exact exam
example examples exc except exception exchange exclusive exec execute execution exercise exist existing exists
exit exp expand expanded expect expected experience experiment expert expl explicit export expr express
expression ext extend extended extension external extra extract ey eye fa fab fabric fac face faces fact factor
factory fade fail failed failure fair fake fall false family fan fans fant far farm fast fat father fault
favorite fe feature featured features fee feed feedback feel fel female fetch few fi field fields fig fight
figure fil file filename files fill film filter filters fin final finally finance financial find finding fine
finish finished fire first fish fit fitness five fix fixed fixture fl flag flags flash flat flex flight flo
float floor flow fluid fly fn fo focus fold folder follow following font foo food foot football for force fore
forecast foreign forest forget form format formation former forms formula fort forum forward found foundation
four fr fra fragment frame frames framework fre free frequency fresh friend friendly friends from front fs
fuel full fully fun func function functional functions fund future ga gain gal gam game games gap gar gas gay ge
gear gen gender gene gener general generate generated generation generator generic genre geometry ger get gets
getting gi gift girl girls git give given gl glass global go goal god going gold good goods google got
government gr grab grad grade gran grand grant graph graphics gratis gray gre great greater green grid gro
ground group groups grow gu guard guess guest guid guide gun ha hack had hair hal half hall ham hand handle
handler handles handling hands hang happy har hard hardware has hash hat have having hay he head header headers
heading health healthy heap heart heat heavy height hel hell help helper her here hero het hex hi hidden hide
high higher highest highlight hint his hist histor history hit hits ho hold holder holiday hom home hon hook hop
hope hor horizontal hospital host hot hotel hour hours house how however html http hum human hy hyper ice ich
icon id ide ideal ident identifier identity if ign ignore ik il ill illegal illustr im image images img imm imp
impact impl implement import important imports in inc include included includes including income incorrect
increase increment ind index individual industry inf info inform information ing ingredients ini init initial
initialize initialized inject inline inner input inputs ins insert inside inst install installation installed
instance instances instant instead instruction instructions instrument insurance int integer integration intel
intent inter interaction interest interesting interface intern internal internet interrupt interval into inv
invalid inventory invest io ip ir iron is iss issue issues it item items iter iterator its ja java je jet jo job
jobs join joined joint journal joy js json ju jud judge jump jun jur just justice ka ke keep keeping kernel key
keyboard keys keyword kick kid kids kill kind king kit kn know knowledge known kom kon la lab label labels
lambda land lang language languages large las last lat late later latest launch law layer layers layout lazy le
lead leader leading leaf league lean learn learning least leave led left leg legal legend len length les less
lesson let lets letter letters level levels li lib library lic license licensed lie life light lights lik like
likes lim limit limited limits lin line linear lines link linked links list lista listen listener listing lists
lit liter little liv live living lo load loaded loader loading loan loc local located location locations lock
locked log logged logger logging logic login logo lon long look looking looks loop los loss lost lot lots love
low lower luck lux ly ma mac machine mad made mag magic mail main maint maintenance major make makes making mal
male man manage managed management manager manifest manual manufact manufacturer many map mapping maps mar
margin mark marker market marketing marks mas mask mass master mat match matches matching material
materials math matrix max maximum may maybe mb md me meal mean means measure med media medical medium meet
meeting mel mem member members membership memory men menu mer merc merge mes mesh mess message messages met meta
metadata metal method methods metrics mi micro mid middle migration mil mill min mind mine mini minimal minimum
minor minute minutes mir mirror mis miss missing mission mit mix mixed mo mob mobile mock mod modal mode model
models modern modified modify module modules mom moment mon money monitor monster month monthly months moon mor
more most mot mother motion motor mount mouse mov move movement moves movie movies moving mp mr ms msg mt mu
much mul mult multi multip multiple mur mus music must mut my na nam name named names namespace nat nation
national native natural nature nav navbar navigation nb nd ne near need needed needs neg negative neighbor net
network never new news next ng ni nic nice nick nie night nil nine no node nodes noise nom nombre nome non none
nor norm normal normally north nos not note notes nothing notice notification notify nov now nu null nullable
num number numbers numer nut ob obj object objective objects obs observ occ occup od odd of off offer offers
office official offset often oh oil ok okay ol old om on once one online only ont op open opening oper operation
operations operator opp opt option optional options or ord order ordered orders org organ organization
orientation orig origin original os ot other others otherwise our out outer output outputs outside over overall
overflow override own owned owner owners pa pack package packages packet pad padding pag page pages paid paint
pair pal pan panel paper par para paragraph parallel param parameter parameters params parent parents park parse
parser part partial participants partition partner parts party pas pass passed password past pat patch path
paths patient patients pattern patterns pay payload payment payments pdf pe peace peak ped peer pel pen pending
people per percent percentage perfect perform performance perhaps period perm permission permissions pers person
personal persons pet pg ph phase phil phone phones phot photo photos phrase phys physical pi pic pick picture
pictures pie piece pieces pin pipe pipeline pitch pixel pixels pl place placeholder places plain plan plane
planet plans plant plate platform play played player players playing please plot plugin plugins plus po pod
point pointer points pol policy polit poll poly pool pop popular population por port pos pose position
positions positive poss possible post posted posting posts pot potential pour pow power pr practice pre prec
precision pred predict preferred prefix premium prepare pres presence present presentation press pressure pretty
prev preview previous pri price prices prim primary prime principal print prior priority priv privacy private
pro prob probably problem proc procedure process processing processor prod produ producer product production
products prof professional profile profit program progress project projects prom promise prompt proof prop
properties property proposal props prot protect protected protocol prov provide provider providers province
proxy ps psych pt ptr pub public publication publish published pull purchase pure purpose push put px py python
qu qual qualified quality quant quantity quarter que query quest question questions queue qui quick quiet quit
quite quote quotes ra race rad radi radio radius rail rain raise raised ram rand random range rank rate rates
rather rating ratio raw re reach react reaction read reader reading ready real really reason rec receive
received receiver recent recipe recogn recommend recommended record records rect red redirect reduce ref refer
reference references reflect refresh reg region regions register registration regular reject rel related
relation relations relationship relative release released rem remaining remark remember remote remove removed
ren render rent rep repair repeat replace replacement reply repo report reports repository represent req request
requests require required requirements requires res research reserved reset resolution resolve resource
resources resp respond respons response responses rest restart restaurant restore result resume ret retrieve
return returned returns rev reverse review reviews reward rich right rights ring risk river ro road rob robot
rock rol role roles roll rom room rooms root rose rot rotate rotation round route router routes routine row rows
rs ru rub rule rules run running runs runtime sa sad safe sal salary sale sales salt sam same sample samples san
sand sans sat save saved saving say sc scala scalar scale scan scenario scene sch schedule scheduled schema
scheme school science scient scope score scores scr screen screens script scroll se sea search season seat sec
second seconds secret section sections sector secure security see seed seeing seek seen seg segment sel select
selected selection selector self sell sem sen send sender sending sense sensor sent sentence seq sequence ser
serial series serv serve server servers service services session sessions set sets setting settings setup seven
sh sha shadow shape share shared shares sharing sharp she sheet shell shift ship shipping shoot shop
shopping short shot should show shows si sid side sie sig sign signal signals signature signed sil silver sim
similar simple sin since sing single sit site sites six size sizes sk skill skills skin skip sky sl sleep slice
slide slot slots slow sm small smart smooth sn snap snapshot snow so social socket soft software sol sold solid
solution som some someone something sometimes son song songs soon sorry sort sorted sound sounds source sources
south sp space spaces span spark spawn spe spec special species specific speech speed spell spin spl split sport
sports spot spr spread spring sprite sq sql square src st stack staff stage stand standard standing star stars
start stat state statement states static station statistics stats status stay std ste steel step steps stick
still stock stone stop storage store stored stores stories storm story str straight strategy stream street
strength stretch strict strike string strings strip stroke strong struct stub student students studio study
stuff style styled styles su sub subject submit submitted subscribe subscription success successful such suite
sum summary summer sun sup super support supported sur sure surface survey sus sw swap sweet switch sy sym
symbol symbols syn sync sys system systems sz ta tab table tables tag tags tail take taken taking talk tan tank
tap tar target targets task tasks tax te teacher teachers team teams tech techn teen tele tell tem temp
temperature template temporary ten tensor ter term terminal terms terr test testing tests text texture th than
thank thanks that the their them theme then there these they thin thing things think thinking third this those
though thought thr thread threads three threshold through throw throws thus ti tick tile tim time
timeout timer times timestamp tiny tip tipo tips tit title titles tk to today todo todos toggle tok token tokens
tom ton too tool tools top topic topics tor tot total touch tour town tr tra trace track tracking tracks trad
trade traditional traffic trail train training trait trans transaction transactions transfer transform
transition translate translation transparent transport travel tre tree trees tri trial trigger trim trip tro
true trust truth try trying ts tu tube tuple tur turn tv tw tweet two tx txt ty typ type types ub ui uint ul ult
um un una unable und undefined under une unexpected uniform union unique unit units unknown unless unlock unt
until up update updated updates upgrade upload upon upper ur urban uri url us usage use used user username users
uses using usually usuario ut utf util utility utils va vac val valid validate validation valor value values van
var vari variable variables variant ve vec vector vel ven vent ver vers vert very vi via video videos view views
viol vir virtual vis visible vision visit visual vo voice void vol volt volume vote votes vous vs wa wait
waiting wake walk walking wall wallet want war warm warn warning was watch water way we weak weapon weather
web website wed week weekly weight wel welcome well wer were west wh what whatever wheel when where whether
which while white who whole why wide widget width wie wild will win wind window windows winner wins winter wire
with withdraw within without woman women won wood word words work worker workers working works world would wr
wrap wrapper write writer writes writing written wrong wy xml ya yang year years yellow yes yet you young your
ze zero zip zone zoom`
    .trim()
    .split(/\s+/);
}
